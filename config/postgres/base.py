"""The database backend of the settings."""

from typing import Any

from django.db.backends.postgresql import base
from psycopg import IsolationLevel

from config.postgres.kept import KEPT, Opened, is_open


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's PostgreSQL backend with generic plans and a cheaper check of kept connections.

    Only the statements of `league.play.statements` are prepared. By default the server plans a
    statement with array parameters for each run, which takes longer than the run itself.

    In a worker, connections are kept between tasks, see `config.postgres.kept`.
    """

    _opened: Opened | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection, new or kept."""
        self._opened = KEPT.take()
        if self._opened is not None:
            self.isolation_level = IsolationLevel.READ_COMMITTED  # as Django does; none is set
            return self._opened.connection
        connection = super().get_new_connection(conn_params)
        connection.execute("SET plan_cache_mode = force_generic_plan")
        if not connection.autocommit:
            connection.commit()
        self._opened = Opened.now(connection)
        return connection

    def _close(self) -> None:
        opened, self._opened = self._opened, None
        is_fit = opened is not None and not self.in_atomic_block and not self.errors_occurred
        if opened is None or not is_fit or not KEPT.leave(opened):
            super()._close()  # type: ignore[misc] # the stubs lack it

    def is_usable(self) -> bool:
        """Return whether an idle connection is still open, without a query."""
        return self.connection is not None and is_open(self.connection)

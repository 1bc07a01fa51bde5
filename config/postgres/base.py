"""The database backend of the settings."""

import select
from typing import Any

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's PostgreSQL backend with generic plans and a cheaper check of kept connections.

    Only the statements of `league.play.statements` are prepared. By default the server plans a
    statement with array parameters for each run, which takes longer than the run itself.
    """

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a new connection."""
        connection = super().get_new_connection(conn_params)
        connection.execute("SET plan_cache_mode = force_generic_plan")
        if not connection.autocommit:
            connection.commit()
        return connection

    def is_usable(self) -> bool:
        """Return whether an idle connection is still open, without a query.

        The server sends nothing on an idle connection before it closes it. So any readable byte,
        or the end of the stream, means that a new connection is needed.
        """
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0)

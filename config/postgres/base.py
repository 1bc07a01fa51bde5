"""The database backend of the settings."""

import select
from typing import Any

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """PostgreSQL, whose kept connections are looked at without asking the server each time.

    What is prepared, only `league.play.statements`, is planned once: by itself the server plans a
    statement that takes arrays anew each time, which takes longer than running it.
    """

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a new connection."""
        connection = super().get_new_connection(conn_params)
        connection.execute("SET plan_cache_mode = force_generic_plan")
        if not connection.autocommit:
            connection.commit()
        return connection

    def is_usable(self) -> bool:
        """Return whether a connection that nobody uses is still there.

        The server says nothing on such a connection, unless it ends it: whatever there is to be
        read, the end included, means a new one is needed.
        """
        if self.connection is None or self.connection.closed:
            return False
        look = select.poll()
        look.register(self.connection.fileno(), select.POLLIN)
        return not look.poll(0)

"""The database backend of the settings."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """PostgreSQL, whose kept connections are looked at without asking the server each time."""

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

"""Django's cache in Valkey, with a client that is kept.

Django's own makes a client of redis-py for each call, which takes 0.1 ms: as long as the call.
"""

from typing import Any

from django.core.cache.backends import redis


class KeptClient(redis.RedisCacheClient):
    """Keeps its client of redis-py, which threads may share. The league has one server for it."""

    _kept: Any = None

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        """Return the client."""
        if self._kept is None:
            self._kept = super().get_client(key, write=write)
        return self._kept


class Cache(redis.RedisCache):
    """The cache of the league."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = KeptClient

"""The cache keeps its client."""

from typing import Any

import pytest
from django.core.cache import caches


def test_calls_of_the_cache_share_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    cache: Any = caches.create_connection("default")
    client = cache._cache
    kind = client._client

    def make(**options: Any) -> Any:
        made.append(kind(**options))
        return made[-1]

    monkeypatch.setattr(client, "_client", make)
    cache.set("partridge", 1)
    assert cache.get("partridge") == 1
    cache.delete("partridge")
    assert len(made) == 1

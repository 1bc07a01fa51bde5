"""Threads for calls that may wait."""

import asyncio

from django.core.cache import caches

from api.play.threads import call_in_thread


def test_calls_in_a_thread_use_the_same_connection_to_the_cache() -> None:
    async def twice() -> list[object]:
        return [await call_in_thread(lambda: caches["default"]) for _ in range(2)]

    first, second = asyncio.run(twice())
    assert first is second

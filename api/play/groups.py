"""Groups: requests that come while a statement is under way share the next one.

The work of a whole group runs at once, so its cost is spread over the group. Nobody waits for a
group to fill: an item that comes while no group runs, or fewer than may run, runs at once.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import structlog
from django.db import InterfaceError, OperationalError

from api.play.threads import ConnectedThreads

log = structlog.get_logger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_ITEMS = 100
"""Items of a group."""


@dataclass(slots=True, eq=False)
class _Parcel(Generic[Item, Result]):
    """Items of one request, which run in one group.

    Attributes:
        context: with the ids that are bound for the request's log.
        alone: whether it shares no group, because a group with it has failed.
    """

    items: Sequence[Item]
    results: asyncio.Future[Sequence[Result]]
    context: Context
    alone: bool = False


def in_threads(
    threads: ConnectedThreads, work: Callable[[Sequence[Item]], Sequence[Result]]
) -> Callable[[Sequence[Item], Context], asyncio.Future[Sequence[Result]]]:
    """Return the start of a work that blocks, for `Groups`."""
    return lambda items, context: threads.start(partial(work, items), context)


class Groups(Generic[Item, Result]):
    """Work that many requests share.

    Args:
        start: starts the work of a group in a context; its future is the result of each item, in
            order. If the work raises an exception, it has changed nothing, or may run again.
        runs: groups that run at a time.
    """

    def __init__(
        self,
        start: Callable[[Sequence[Item], Context], asyncio.Future[Sequence[Result]]],
        *,
        runs: int,
    ) -> None:
        self._start_work, self._free = start, runs
        self._waiting: deque[_Parcel[Item, Result]] = deque()
        self._is_starting = False

    async def add(self, item: Item) -> Result:
        """Return the result of an item.

        Raises:
            OperationalError, InterfaceError: the database can't be reached.
        """
        [result] = await self.add_all([item])
        return result

    async def add_all(self, items: Sequence[Item]) -> Sequence[Result]:
        """Return the results of at most `MAX_ITEMS` items, which run in one group."""
        loop = asyncio.get_running_loop()
        parcel = _Parcel[Item, Result](items, loop.create_future(), copy_context())
        self._waiting.append(parcel)
        if self._free and not self._is_starting:
            # Requests that arrived at the same moment still join.
            self._is_starting = True
            loop.call_soon(self._start)
        return await parcel.results

    def _start(self) -> None:
        self._is_starting = False
        while self._waiting and self._free:
            self._free -= 1
            parcels = self._take()
            items = [item for parcel in parcels for item in parcel.items]
            # The lines that the work of one request logs have that request's ids.
            context = parcels[0].context if len(parcels) == 1 else Context()
            run = self._start_work(items, context)
            run.add_done_callback(partial(self._finish, parcels))

    def _take(self) -> list[_Parcel[Item, Result]]:
        """Remove the parcels of the next group from the queue, and return them."""
        parcels = [self._waiting.popleft()]
        count = len(parcels[0].items)
        while not parcels[0].alone and self._waiting and not self._waiting[0].alone:
            count += len(self._waiting[0].items)
            if count > MAX_ITEMS:
                break
            parcels.append(self._waiting.popleft())
        return parcels

    def _finish(
        self, parcels: list[_Parcel[Item, Result]], run: asyncio.Future[Sequence[Result]]
    ) -> None:
        """Pass a group's results to the requests, and start the next group."""
        self._free += 1
        error = asyncio.CancelledError() if run.cancelled() else run.exception()
        if error is None:
            results = run.result()
            start = 0
            for parcel in parcels:
                end = start + len(parcel.items)
                if not parcel.results.done():
                    parcel.results.set_result(results[start:end])
                start = end
        elif len(parcels) > 1 and not isinstance(error, OperationalError | InterfaceError):
            log.warning("a group failed; its requests run alone", error=str(error))
            for parcel in reversed(parcels):
                parcel.alone = True
                self._waiting.appendleft(parcel)
        else:
            for parcel in parcels:
                if not parcel.results.done():
                    parcel.results.set_exception(error)
        self._start()

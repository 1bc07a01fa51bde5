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
        max_items: of a group.
        patience: seconds that a group takes before the next one starts beside it.
    """

    def __init__(
        self,
        start: Callable[[Sequence[Item], Context], asyncio.Future[Sequence[Result]]],
        *,
        runs: int,
        max_items: int = MAX_ITEMS,
        patience: float = 0.0,
    ) -> None:
        self._start_work, self._runs, self._patience = start, runs, patience
        self._max_items = max_items
        self._free = runs
        self._waiting: deque[_Parcel[Item, Result]] = deque()
        self._next: asyncio.Handle | None = None
        """Starts groups."""
        self._next_at = 0.0
        """Time of the event loop before which no group starts beside another one."""

    def __len__(self) -> int:
        """Return the number of requests whose items wait for a group."""
        return len(self._waiting)

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
        self._schedule(loop)
        return await parcel.results

    def close(self) -> None:
        """Start no more groups: the requests that wait have their answers."""
        self._waiting.clear()

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        """See that the next group starts, if one is free."""
        if self._next is not None or not self._free:
            return
        if self._free == self._runs or not self._patience:
            # Requests that arrived at the same moment still join.
            self._next = loop.call_soon(self._start)
        else:
            self._next = loop.call_at(self._next_at, self._start)

    def _start(self) -> None:
        """Start the next group, if a group is free and the last one has had its time."""
        if self._next is not None:
            self._next.cancel()
            self._next = None
        loop = asyncio.get_running_loop()
        while self._waiting and self._free:
            if self._free < self._runs and loop.time() < self._next_at:
                self._schedule(loop)
                return
            self._free -= 1
            self._next_at = loop.time() + self._patience
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
            if count > self._max_items:
                break
            parcels.append(self._waiting.popleft())
        return parcels

    def _finish(
        self, parcels: list[_Parcel[Item, Result]], run: asyncio.Future[Sequence[Result]]
    ) -> None:
        """Start the next group, and pass this group's results to the requests."""
        self._free += 1
        error = asyncio.CancelledError() if run.cancelled() else run.exception()
        runs_again = (
            len(parcels) > 1
            and isinstance(error, Exception)
            and not isinstance(error, OperationalError | InterfaceError)
        )
        if runs_again:
            log.warning("a group failed; its requests run alone", error=str(error))
            for parcel in reversed(parcels):
                parcel.alone = True
                self._waiting.appendleft(parcel)
        # PostgreSQL works on the next group while the requests of this one are answered.
        self._start()
        if error is None:
            results = run.result()
            start = 0
            for parcel in parcels:
                end = start + len(parcel.items)
                if not parcel.results.done():
                    parcel.results.set_result(results[start:end])
                start = end
        elif not runs_again:
            for parcel in parcels:
                if not parcel.results.done():
                    parcel.results.set_exception(error)

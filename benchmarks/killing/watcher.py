"""A spectator, who follows live matches by their event streams and reconnects when they break."""

import threading
import time
from collections import Counter
from contextlib import closing
from random import Random
from typing import Any

from bots_sdk import calls
from bots_sdk.client import Client, LeagueError, ProblemError, Retry

_PATIENT = Retry(seconds=1200.0, max_wait_seconds=2.0)
_MAX_WATCHED = 200
END_SECONDS = 60.0
"""The time in which a stream must end after the end of its match."""

Events = list[tuple[str, str, Any]]
"""Kind, id and data of events with an id."""


class Watcher:
    """Follows one live match after the other until `stop`, in a thread.

    Attributes:
        counts: of matches, events and connections.
        problems: what should not have happened.
        received: set by each event.

    Args:
        url: of the league.
        seed: of the choice of matches.
    """

    def __init__(self, url: str, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.received = threading.Event()
        self._seen: dict[int, Events] = {}
        self._chance = Random(seed)
        self._client = Client(url, retry=_PATIENT)
        self._is_last = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="watcher")
        self._thread.start()

    def stop(self, *, settled: bool = False) -> None:
        """Open no more streams, and end the one that is open after its next event.

        Args:
            settled: whether all matches are over. Then the stream must end by itself, or its last
                events are lost.
        """
        self._is_last.set()
        if settled:
            self._thread.join(END_SECONDS)
            if self._thread.is_alive():
                match = next(reversed(self._seen), None)
                self.problems.append(f"the stream of match {match} has not ended with the match")
        self._stopping.set()
        self._thread.join(60)

    def check(self, url: str) -> None:
        """Compare the events that arrived with those of the finished matches."""
        with closing(Client(url, retry=_PATIENT)) as client:
            for match, seen in self._seen.items():
                found: Events = []
                with client.events(calls.match_events(match)) as events:
                    found += [_comparable(each) for each in events if each.event != "clock"]
                self.counts["matches compared"] += 1
                if seen != found[: len(seen)]:
                    at = next(i for i, each in enumerate(seen) if found[i : i + 1] != [each])
                    self.problems.append(
                        f"stream of match {match}, event {at}: {seen[at]}, not {found[at : at + 1]}"
                    )
        self._client.close()

    def _run(self) -> None:
        while not self._is_last.is_set():
            try:
                if (match := self._choose()) is None:
                    time.sleep(0.5)
                else:
                    self._follow(match)
            except Exception as error:
                self.problems.append(f"the watcher: {error!r}")
                time.sleep(1.0)

    def _choose(self) -> int | None:
        page = self._client.send(calls.matches(status="playing", limit=50))
        new = [each["id"] for each in page["results"] if each["id"] not in self._seen]
        return self._chance.choice(new) if new and len(self._seen) < _MAX_WATCHED else None

    def _follow(self, match: int) -> None:
        seen = self._seen.setdefault(match, [])
        last: str | None = None
        while not self._stopping.is_set():
            try:
                self.counts["connections"] += 1
                with self._client.events(calls.match_events(match, last)) as events:
                    for event in events:
                        self.received.set()
                        if event.event != "clock":
                            seen.append(_comparable(event))
                            self.counts["events"] += 1
                            last = event.id or last
                        if event.event == "end":
                            self.counts["matches"] += 1
                            return
                        if self._stopping.is_set():
                            return
            except ProblemError as problem:
                if problem.status < 500 and problem.status != 429:
                    raise
                time.sleep(0.5)
            except LeagueError:
                time.sleep(0.2)


def _comparable(event: Any) -> tuple[str, str, Any]:
    return event.event, event.id, event.data

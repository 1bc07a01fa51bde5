"""Clients of all kinds that call a league without a pause and repeat nothing.

Each counts its requests and notes each failure. It never sends a request again, so each failure is
one that a plain client sees.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

_TIMEOUT = httpx.Timeout(60.0)
_PAUSE_SECONDS = 0.1
_PAGES = ("/", "/ladders/twelve-days/", "/matches/", "/healthz")
_CALLS = ("/api/v1/ladders", "/api/v1/ladders/twelve-days/standings", "/api/v1/bots/{bot}")


class Player:
    """A remote bot on a ladder, and the tokens to play and change it."""

    def __init__(self, url: str, name: str) -> None:
        self.url, self.name = url, name
        with httpx.Client(base_url=f"{url}/api/v1", timeout=_TIMEOUT) as client:
            account = {"username": f"{name}-owner", "password": "four calling birds"}
            self.owner = self._created(client, "/accounts", account, None)
            bot = {"name": name, "kind": "remote"}
            self.token = self._created(client, "/bots", bot, self.owner)
            entry = f"/ladders/twelve-days/entries/{name}"
            client.put(entry, headers=_bearer(self.token)).raise_for_status()

    @staticmethod
    def _created(client: httpx.Client, path: str, body: object, token: str | None) -> str:
        answer = client.post(path, json=body, headers=_bearer(token)).raise_for_status()
        return str(answer.json()["token"])

    def faults(self) -> list[str]:
        """Return the faults of all of the bot's matches, each as text."""
        found: list[str] = []
        with httpx.Client(
            base_url=f"{self.url}/api/v1", timeout=_TIMEOUT, headers=_bearer(self.owner)
        ) as client:
            at: str | None = f"/matches?bot={self.name}&limit=100"
            while at:
                page = client.get(at).raise_for_status().json()
                at = page["next"]
                for match in page["results"]:
                    found += [
                        f"match {match['id']}: {seat['faults']} faults"
                        for seat in match["seating"]
                        if seat["bot"] == self.name and seat["faults"]
                    ]
        return found


class Load:
    """The clients; use it as a context, in which they run.

    Attributes:
        sent: requests, and events of streams, by kind.
        failures: what a client saw, with the seconds since the start.
    """

    def __init__(self, player: Player) -> None:
        self._player = player
        self._url = player.url
        self._over = threading.Event()
        self._lock = threading.Lock()
        self.sent: Counter[str] = Counter()
        self.failures: list[str] = []
        kinds: dict[str, Callable[[str], None]] = {
            "pages": self._pages,
            "pages, kept connections": self._kept_pages,
            "calls": self._calls,
            "changes": self._changes,
            "long polls and moves": self._play,
            "turn streams": self._turn_streams,
            "match streams": self._match_streams,
        }
        self._threads = [
            threading.Thread(target=run, args=(kind,), name=kind) for kind, run in kinds.items()
        ]

    def __enter__(self) -> "Load":
        self._began = time.monotonic()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def report(self) -> str:
        """Return counts and failures as text."""
        counts = ", ".join(f"{kind}: {count}" for kind, count in sorted(self.sent.items()))
        return "\n".join([counts, f"failures: {len(self.failures)}", *self.failures[:20]])

    # -- kinds of clients ------------------------------------------------------------------------

    def _pages(self, kind: str) -> None:
        """Get pages, each by a new connection."""
        for number in self._numbers():
            with httpx.Client(base_url=self._url, timeout=_TIMEOUT) as client:
                self._send(kind, client, "GET", _PAGES[number % len(_PAGES)])

    def _kept_pages(self, kind: str) -> None:
        with self._client() as client:
            for number in self._numbers():
                self._send(kind, client, "GET", _PAGES[number % len(_PAGES)])

    def _calls(self, kind: str) -> None:
        with self._client() as client:
            for number in self._numbers():
                path = _CALLS[number % len(_CALLS)].format(bot=self._player.name)
                self._send(kind, client, "GET", path)

    def _changes(self, kind: str) -> None:
        """Change the bot's description: no proxy may send that twice by itself."""
        with self._client(self._player.owner) as client:
            for number in self._numbers():
                body = {"description": f"number {number}"}
                self._send(kind, client, "PATCH", f"/api/v1/bots/{self._player.name}", json=body)

    def _play(self, kind: str) -> None:
        """Wait for turns, and answer all of them at once."""
        with self._client(self._player.token) as client:
            turns: list[Any] = []
            while not self._over.is_set():
                if turns:
                    moves = [
                        {
                            "match": turn["match"],
                            "turn": turn["turn"],
                            "move": turn["observation"]["legal_moves"][0],
                        }
                        for turn in turns
                    ]
                    answer = self._send(
                        kind, client, "POST", "/api/v1/moves", json={"moves": moves}
                    )
                else:
                    answer = self._send(kind, client, "GET", "/api/v1/turns?wait=5")
                turns = answer["turns"] if answer else []

    def _turn_streams(self, kind: str) -> None:
        with self._client(self._player.token) as client:
            while not self._over.is_set():
                self._follow(kind, client, "/api/v1/turns/stream")

    def _match_streams(self, kind: str) -> None:
        """Follow matches in play; after a lost connection, continue from the last event."""
        with self._client() as client:
            while not self._over.is_set():
                running = self._send(kind, client, "GET", "/api/v1/matches?status=playing&limit=1")
                if running and running["results"]:
                    path = f"/api/v1/matches/{running['results'][0]['id']}/events"
                    last: str | None = ""
                    while last is not None and last != "end" and not self._over.is_set():
                        last = self._follow(kind, client, path, last)
                self._over.wait(_PAUSE_SECONDS)

    # -- requests --------------------------------------------------------------------------------

    def _numbers(self) -> Iterator[int]:
        number = 0
        while not self._over.wait(_PAUSE_SECONDS):
            yield number
            number += 1

    @contextmanager
    def _client(self, token: str | None = None) -> Iterator[httpx.Client]:
        with httpx.Client(base_url=self._url, timeout=_TIMEOUT, headers=_bearer(token)) as client:
            yield client

    def _send(self, kind: str, client: httpx.Client, method: str, path: str, **body: Any) -> Any:
        """Send a request; return the JSON of the answer, None without."""
        self._count(kind)
        try:
            answer = client.request(method, path, **body)
        except httpx.HTTPError as error:
            self._note(kind, f"{method} {path}: {error!r}")
            return None
        if answer.status_code != 200:
            self._note(kind, f"{method} {path}: {answer.status_code} {answer.text[:120]}")
            return None
        is_json = answer.headers["content-type"].startswith("application/json")
        return answer.json() if is_json else None

    def _follow(self, kind: str, client: httpx.Client, path: str, last: str = "") -> str | None:
        """Read a stream to its end; return the id of the last event, None if it can't be read."""
        self._count(kind)
        headers = {"Last-Event-ID": last} if last else {}
        try:
            with client.stream("GET", path, headers=headers) as stream:
                if stream.status_code != 200:
                    self._note(kind, f"{path}: {stream.status_code}")
                    return None
                for line in stream.iter_lines():
                    if line.startswith("id: "):
                        last = line.removeprefix("id: ")
                        self._count(f"events of {kind}")
                    if self._over.is_set():
                        break
        except httpx.HTTPError as error:
            self._note(kind, f"{path}: {error!r}")
        return last

    def _count(self, kind: str) -> None:
        with self._lock:
            self.sent[kind] += 1

    def _note(self, kind: str, what: str) -> None:
        seconds = time.monotonic() - self._began
        with self._lock:
            self.failures.append(f"{seconds:.1f} s, {kind}: {what}")


def _bearer(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}

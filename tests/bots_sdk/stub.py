"""A league small enough to break: real HTTP, real games, and trouble to order."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from engine.deals import derive, seeded_shuffle
from engine.errors import IllegalMoveError
from engine.games import catalogue
from engine.games.game import State

LOSE, DROP = "answers, but the answer is lost", "hangs up at once"
Trouble = None | str | int | tuple[int, dict[str, str]] | tuple[int, dict[str, str], Any]


@dataclass
class StubMatch:
    """A match of the bot, at seat 0, against seats that play their first legal move."""

    number: int
    state: State
    seconds: float
    bank_seconds: float = 7.0
    opened_at: float = field(default_factory=time.monotonic)
    decided: dict[int, str] = field(default_factory=dict)
    expired: int = 0
    hides_result: bool = False

    def go_on(self) -> None:
        """Move all seats but 0, and 0 where it has no choice."""
        state = self.state
        while state.actors:
            forced = {seat: state.legal(seat)[0] for seat in state.actors}
            if 0 in forced and len(state.legal(0)) > 1:
                del forced[0]
            if not forced:
                break
            state.step(forced)
        self.opened_at = time.monotonic()

    @property
    def remaining(self) -> float:
        return self.opened_at + self.seconds - time.monotonic()

    def turn(self) -> dict[str, Any] | None:
        """Return the open turn."""
        if not self.state.actors:
            return None
        if self.remaining <= 0:
            self.expired += 1
            self._play(self.state.legal_texts(0)[-1])
            return self.turn()
        return {
            "match": self.number,
            "seat": 0,
            "turn": len(self.decided),
            "deadline": "2026-12-24T18:00:00Z",
            "remaining_ms": int(1000 * self.remaining),
            "bank_ms": 0,
            "observation": self.state.observe(0),
        }

    def submit(self, turn: int, text: str) -> dict[str, Any]:
        """Return the verdict on a move."""
        if turn in self.decided:
            if self.decided[turn] == text:
                return {"status": "accepted", "move": text, "turn": turn, "remaining_ms": 1}
            return problem(409, "turn-already-decided")
        if self.turn() is None or turn != len(self.decided):
            return problem(409, "turn-expired" if turn in self.decided else "turn-not-open")
        try:
            self.state.parse(0, text)
        except IllegalMoveError as error:
            return problem(422, "illegal-move", legal_moves=error.legal_moves, answers_left=4)
        self._play(text)
        return {"status": "accepted", "move": text, "turn": turn, "remaining_ms": 1}

    def _play(self, text: str) -> None:
        self.decided[len(self.decided)] = text
        self.state.step({0: self.state.parse(0, text)})
        self.go_on()

    def as_json(self) -> dict[str, Any]:
        state = self.state
        scores, places = state.scores or [None] * 4, state.places or [None] * 4
        if self.hides_result:
            scores = places = [None] * 4
        return {
            "id": self.number,
            "status": "finished" if state.is_over else "playing",
            "move_seconds": self.seconds,
            "bank_seconds": self.bank_seconds,
            "seating": [
                {"seat": seat, "bot": f"bot-{seat}", "score": scores[seat], "place": places[seat]}
                for seat in range(state.seats)
            ],
        }


def problem(status: int, code: str, **members: Any) -> dict[str, Any]:
    """Return a problem document."""
    return {"status": status, "code": code, "detail": f"from the stub: {code}", **members}


class StubLeague:
    """The stub's state, which outlives its server.

    Attributes:
        trouble: the trouble of each next request: `LOSE`, `DROP`, a status, a status with
            headers, or None for none.
        requests: method and path of all requests that arrived, in order.
        answers: what paths other than those of play answer with, as status and document.
        token: the only valid token.
    """

    token = "tn_b_stub"

    def __init__(self, matches: int = 0, *, seconds: float = 30.0, game: str = "") -> None:
        games = ["twelve-days", "partridge"] if not game else [game]
        self.matches: dict[int, StubMatch] = {}
        for number in range(1, matches + 1):
            name = games[number % len(games)]
            rules = {"twelve-days": "calliope", "partridge": "eagle-short"}[name]
            shuffle = seeded_shuffle(derive(bytes(32), f"deal/{number}"))
            state = catalogue.start(name, rules, 4, shuffle)
            self.matches[number] = match = StubMatch(number, state, seconds)
            match.go_on()
        self.trouble: list[Trouble] = []
        self.requests: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[Any] = []
        self.answers: dict[str, Any] = {}
        self.lock = threading.Lock()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def keys(self) -> list[str]:
        """The keys of all requests that had an ``Idempotency-Key``."""
        return [each["Idempotency-Key"] for each in self.headers if "Idempotency-Key" in each]

    @property
    def over(self) -> bool:
        return all(match.state.is_over for match in self.matches.values())

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve, at the same port each time."""
        league = self

        class Handler(_Handler):
            stub = league

        server = _Server(("127.0.0.1", self.port), Handler)
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield self.url
        finally:
            server.shutdown()
            thread.join()
            server.close_all()
            server.server_close()

    def turns(self) -> list[dict[str, Any]]:
        return [turn for match in self.matches.values() if (turn := match.turn())]

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        """Return a status and a document."""
        if path == "turns":
            deadline = time.monotonic() + float(query.get("wait", ["0"])[0])
            while time.monotonic() < deadline:
                with self.lock:
                    if turns := self.turns():
                        return 200, {"turns": turns}
                time.sleep(0.01)
        with self.lock:
            if path == "turns":
                return 200, {"turns": self.turns()}
            if path == "moves":
                verdicts = [
                    {
                        "match": sent["match"],
                        "turn": sent["turn"],
                        **self.matches[sent["match"]].submit(sent["turn"], sent["move"]),
                    }
                    for sent in body["moves"]
                ]
                return 200, {"verdicts": verdicts, "turns": self.turns()}
            number = path.removeprefix("matches/")
            if number.isdigit() and int(number) in self.matches:
                return 200, self.matches[int(number)].as_json()
            return self.answers.get(f"{method} {path}", (404, problem(404, "not-found")))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._open: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def close_all(self) -> None:
        """Hang up on everybody, as a server does that is killed."""
        for request in list(self._open):
            self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that have gone."""


class _Handler(BaseHTTPRequestHandler):
    stub: StubLeague
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: no waiting for acknowledgements
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - their names there

    def _serve(self) -> None:
        stub = self.stub
        length = int(self.headers.get("content-length", 0))
        raw = self.rfile.read(length)
        parts = urlsplit(self.path)
        path = parts.path.removeprefix("/api/v1/")
        is_json = self.headers.get("content-type") == "application/json"
        body = json.loads(raw) if is_json else raw
        with stub.lock:
            stub.requests.append((self.command, path))
            stub.headers.append(dict(self.headers))
            stub.bodies.append(body)
            trouble = stub.trouble.pop(0) if stub.trouble else None
        if trouble == DROP:
            self.close_connection = True
            return
        headers: dict[str, str] = {}
        if isinstance(trouble, tuple):
            status, headers = trouble[:2]
            document: Any = problem(status, "too-many-requests")
            if len(trouble) == 3:
                document = trouble[2]
        elif isinstance(trouble, int):
            status, document = trouble, problem(trouble, "unavailable")
        else:
            status, document = stub.answer(self.command, path, parse_qs(parts.query), body)
        if trouble == LOSE:
            self.close_connection = True
            return
        if status == 308:  # a bot that was renamed
            headers = {**headers, "Location": document}
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        kind = "text/html" if isinstance(document, bytes) else "application/json"
        self.send_response(status)
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""

"""The bots of the page about remote bots go on through everything that may happen to a request."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.docs.listings import TOOLS, listings, save, why_not

SECONDS = 120
"""Time for a script; most of it goes to the compiler of Go on a busy machine."""
RETRY_SECONDS = 1


class Answer(NamedTuple):
    """A step of a script: what a league answers to the next request.

    Attributes:
        status: the HTTP status; 0 to close the connection without an answer.
        body: the answer's JSON value, or its bytes; None for no body.
        headers: more headers.
    """

    status: int
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()


class Sent(NamedTuple):
    """A request that a bot sent, with the time of its arrival."""

    at: float
    method: str
    path: str
    token: str
    body: Any


def turn(number: int) -> dict[str, Any]:
    moves = [f"give {card}" for card in range(1, 13)]
    return {"match": 2**53 - 1, "turn": number, "seat": 0, "observation": {"legal_moves": moves}}


def verdicts(*of_moves: dict[str, Any], turns: tuple[int, ...] = ()) -> Answer:
    return Answer(200, {"verdicts": of_moves, "turns": [turn(number) for number in turns]})


ACCEPTED = {"status": "accepted"}
REFUSED = {"status": 409, "code": "turn-expired", "detail": "The deadline has passed."}
WAIT = (("Retry-After", str(RETRY_SECONDS)),)
SCRIPT = [
    Answer(0),
    Answer(503, {"code": "unavailable"}, WAIT),
    Answer(502, "the proxy has no league"),
    Answer(200, b'{"turns": ['),
    Answer(200, {"turns": []}),
    Answer(200, {"turns": [turn(0)]}),
    Answer(0),
    Answer(429, {"code": "too-many-requests"}, WAIT),
    verdicts(ACCEPTED, turns=(1, 2)),
    verdicts(REFUSED, ACCEPTED),
    Answer(401, {"code": "invalid-token", "detail": "This token has been replaced."}),
]


@contextmanager
def scripted(script: list[Answer]) -> Iterator[tuple[str, list[Sent]]]:
    """Run a server that answers by a script; yield its address and the requests so far."""
    sent: list[Sent] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.answer(None)

        def do_POST(self) -> None:
            self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def answer(self, body: Any) -> None:
            token = self.headers["Authorization"]
            step = script[len(sent)] if len(sent) < len(script) else script[-1]
            sent.append(Sent(time.monotonic(), self.command, self.path, token, body))
            self.close_connection = True
            if not step.status:
                return
            raw = step.body is None or isinstance(step.body, bytes)
            data = (step.body or b"") if raw else json.dumps(step.body).encode()
            self.send_response(step.status)
            for name, value in (*step.headers, ("Connection", "close")):
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sent
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.timeout(SECONDS + 30)
@pytest.mark.parametrize("language", TOOLS)
def test_a_bot_goes_on_through_outages_and_sends_a_lost_move_again(
    language: str, tmp_path: Path
) -> None:
    if reason := why_not(language):
        pytest.skip(reason)
    with scripted(SCRIPT) as (address, sent):
        done = run_bot(language, tmp_path, TWELFTH_NIGHT_URL=f"{address}/", BOT_TOKEN="tn_b_1")
    assert len(sent) == len(SCRIPT), done.stderr
    assert [request.path for request in sent] == [
        *["/api/v1/turns?wait=25"] * 6,
        *["/api/v1/moves"] * 4,
        "/api/v1/turns?wait=25",
    ]
    assert {request.token for request in sent} == {"Bearer tn_b_1"}
    for number, answer in enumerate(SCRIPT[:-1]):
        if answer.headers:
            assert sent[number + 1].at - sent[number].at >= RETRY_SECONDS
    lost, again, once_more, following = [request.body["moves"] for request in sent[6:10]]
    assert lost == again == once_more
    assert [(move["match"], move["turn"]) for move in following] == [
        (2**53 - 1, 1),
        (2**53 - 1, 2),
    ]
    assert all(move["move"] in turn(0)["observation"]["legal_moves"] for move in lost + following)
    assert "The deadline has passed." in done.stdout
    # Two requests got no answer, and one got half of one.
    printed = errors(language, done)
    assert sum("No answer" in line for line in printed) >= 3
    assert printed[-1].endswith("This token has been replaced.")
    assert done.returncode == 1


@pytest.mark.timeout(SECONDS + 30)
@pytest.mark.parametrize("language", TOOLS)
def test_a_bot_without_a_token_or_at_a_wrong_address_stops_with_the_reason(
    language: str, tmp_path: Path
) -> None:
    if reason := why_not(language):
        pytest.skip(reason)
    done = run_bot(language, tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Set BOT_TOKEN (`twelfth-night bot token --help`)" in errors(language, done)[-1]
    with scripted([Answer(404, "no league here")]) as (address, _):
        done = run_bot(language, tmp_path, TWELFTH_NIGHT_URL=address, BOT_TOKEN="tn_b_1")
    assert done.returncode == 1
    assert done.stdout == f"Playing at {address}/api/v1/\n"
    assert len(errors(language, done)) == 1


@pytest.mark.timeout(SECONDS + 30)
@pytest.mark.parametrize("language", TOOLS)
def test_a_bot_sends_at_most_100_moves_in_a_call_and_ends_at_ctrl_c(
    language: str, tmp_path: Path
) -> None:
    if reason := why_not(language):
        pytest.skip(reason)
    script = [
        Answer(200, {"turns": [turn(number) for number in range(130)]}),
        verdicts(*[ACCEPTED] * 100, turns=tuple(range(100, 130))),
        verdicts(*[ACCEPTED] * 30),
        Answer(503),
    ]
    with scripted(script) as (address, sent):
        with started(language, tmp_path, address) as bot:
            wait_until(lambda: len(sent) > 4)
            os.killpg(bot.pid, signal.SIGINT)
            _, printed = bot.communicate(timeout=30)
        assert [len(request.body["moves"]) for request in sent[1:3]] == [100, 30]
    assert bot.returncode != 0
    assert "Traceback" not in printed


def errors(language: str, done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines that a bot has printed to standard error, without that of ``go run``."""
    lines = done.stderr.splitlines()
    if language == "Go":
        assert lines.pop() == "exit status 1"
    return lines


@contextmanager
def started(language: str, directory: Path, address: str) -> Iterator[subprocess.Popen[str]]:
    """Run the bot of a language in its own process group; end the group at the end."""
    bot = subprocess.Popen(
        save(listings()[language], directory),
        cwd=directory,
        env=environment(TWELFTH_NIGHT_URL=address, BOT_TOKEN="tn_b_1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield bot
    finally:
        if bot.poll() is None:
            os.killpg(bot.pid, signal.SIGKILL)
            bot.communicate()


def wait_until(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.05)


def environment(**variables: str) -> dict[str, str]:
    """Return this process's environment; of the bot's variables it has only these."""
    names = os.environ.keys() - {"BOT_TOKEN", "TWELFTH_NIGHT_URL"}
    return {**{name: os.environ[name] for name in names}, **variables}


def run_bot(language: str, directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the bot of a language until it stops, with these additional variables."""
    return subprocess.run(
        save(listings()[language], directory),
        cwd=directory,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_the_bot_has_at_most_30_lines_in_python_and_javascript_and_90_in_go() -> None:
    lines = {
        language: sum(bool(line.strip()) for line in listing.text.splitlines())
        for language, listing in listings().items()
    }
    assert lines.keys() == TOOLS.keys()
    assert lines["Python"] <= 30
    assert lines["JavaScript"] <= 30
    assert lines["Go"] <= 90
    for listing in listings().values():
        assert max(map(len, listing.text.splitlines())) <= 100

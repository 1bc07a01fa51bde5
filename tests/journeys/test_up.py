"""The whole product: from nothing to a rated tournament in one command, twice."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(120)

SECONDS = 60


@contextmanager
def league(directory: Path, port: int) -> Iterator[str]:
    """Run the league as ``make up`` does and give its address; then stop it as Ctrl-C does."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE")
    }
    log = directory.with_suffix(".log")
    command = [sys.executable, "-m", "league.local.up"]
    command += ["--directory", str(directory), "--port", str(port)]
    with log.open("w") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        wait_for(lambda: "Twelfth Night is up" in log.read_text(), log)
        yield f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 0, log.read_text()
    finally:
        process.kill()


def wait_for(done: object, log: Path) -> None:
    assert callable(done)
    deadline = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as response:
        text: str = response.read().decode()
    return text


def free_port() -> int:
    """Return a port that nobody listens on, below those of outgoing connections."""
    while True:
        number = random.randrange(20000, 32768)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", number)):
                return number


def standings(address: str, ladder: str) -> list[tuple[str, int]]:
    """Return the bots of a ladder and their ratings in thousandths of an Elo point."""
    page = json.loads(get(f"{address}/api/v1/ladders/{ladder}/standings"))
    return [(row["bot"], row["rating"]) for row in page["results"]]


def test_a_first_tournament_plays_itself_and_a_second_start_keeps_it(tmp_path: Path) -> None:
    directory, port = tmp_path / "var", free_port()
    with league(directory, port) as address:
        wait_for(lambda: standings(address, "twelve-days"), directory.with_suffix(".log"))
        rated = standings(address, "twelve-days")
        assert sum(rating for _, rating in rated) == 1_500_000 * len(rated)
        assert all(bot in get(f"{address}/ladders/twelve-days/") for bot, _ in rated)
        assert "finished" in get(f"{address}/tournaments/")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(f"{address}/nothing")
    with league(directory, port) as address:
        assert standings(address, "twelve-days") == rated


def test_a_port_that_is_taken_is_named_with_the_way_round_it(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [
                *(sys.executable, "-m", "league.local.up"),
                *("--directory", str(tmp_path), "--port", str(port)),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    assert done.returncode == 1
    assert f"port {port}" in done.stderr
    assert done.stderr.count("\n") == 1

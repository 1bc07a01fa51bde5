"""A league as `make up` runs it, and bots that play in it over its API."""

import json
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from devserver.running import VARIABLES, variables_of_running
from engine.rating import elo
from engine.rating.results import MatchResult, rated_places
from engine.record import read, verify
from engine.referee import FAULTS_TO_FORFEIT

logging.getLogger("httpx").setLevel(logging.WARNING)  # it notes every poll

SECONDS = 300
CHECKOUT = Path(__file__).parents[2]
QUICK_BOTS = "house-random,house-thumb,house-random-2,house-thumb-2"
PAUSE = "from league.models import Ladder; Ladder.objects.update(paused=True)"
"""For ``manage.py shell``: no ladder opens another round."""


def wait_for(
    done: Callable[[], object], what: object = "", seconds: float = SECONDS, every: float = 0.1
) -> Any:
    """Return what ``done`` gives as soon as that is true; fail if it takes too long."""
    deadline = time.monotonic() + seconds
    while not (result := done()):
        if time.monotonic() > deadline:
            pytest.fail(
                f"it takes longer than {seconds:.0f} s; {what() if callable(what) else what}"
            )
        time.sleep(every)
    return result


def free_port() -> int:
    """Return a port that nobody listens on, below those of outgoing connections."""
    while True:
        number = random.randrange(20000, 32768)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", number)):
                return number


class League:
    """A running league.

    Attributes:
        address: of its front, without a slash at the end.
        directory: of its data.
    """

    def __init__(self, directory: Path, port: int, variables: Mapping[str, str]) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.directory = directory
        self._log = directory.with_suffix(".log")
        environment = {
            name: value
            for name, value in os.environ.items()
            # Its many processes take a tenth less time if one of them stores the bytecode.
            if name not in (*VARIABLES, "DJANGO_SETTINGS_MODULE", "PYTHONDONTWRITEBYTECODE")
        }
        environment |= {
            "HOUSE_BOTS": QUICK_BOTS,
            "RATE_GENERAL": "60000/minute",
            "WEB_WORKERS": "1",
        }
        environment |= variables
        self._environment = {**environment, "LEAGUE_DIRECTORY": str(directory)}
        command = [sys.executable, "-m", "devserver.up"]
        command += ["--directory", str(directory), "--port", str(port)]
        with self._log.open("w") as output:
            self.process = subprocess.Popen(
                command, env=environment, stdout=output, stderr=output, cwd=CHECKOUT
            )
        self.client = httpx.Client(base_url=f"{self.address}/api/v1/", timeout=40, verify=False)

    def log(self) -> str:
        """Return the end of its output."""
        return self.whole_log()[-6000:]

    def whole_log(self) -> str:
        """Return its output."""
        return self._log.read_text()

    def is_up(self) -> bool:
        """Return whether the log reports the start."""
        return "Twelfth Night is up" in self._log.read_text()

    def get(self, path: str) -> Any:
        """Return the API's answer to a request without a token."""
        response = self.client.get(path)
        assert response.status_code == 200, response.text
        return response.json()

    def all(self, path: str) -> list[Any]:
        """Return a whole list, page by page."""
        results = []
        following: str | None = path
        while following:
            page = self.get(following)
            results += page["results"]
            following = page["next"]
        return results

    def post(self, path: str, token: str = "", **body: Any) -> Any:
        """Return the API's answer to a request with a body."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        response = self.client.post(path, json=body, headers=headers)
        assert response.is_success, response.text
        return response.json()

    def manage(self, *arguments: str) -> str:
        """Run a command of manage.py beside it and return what it prints."""
        done = subprocess.run(
            [sys.executable, CHECKOUT / "manage.py", *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def variables(self) -> dict[str, str]:
        """Return where its servers are."""
        return variables_of_running(self.directory)

    def part(self, word: str) -> int:
        """Return the pid of the part whose command has a word in it."""
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(entry.read_text().rpartition(")")[2].split()[1])
                command = (entry.parent / "cmdline").read_bytes().decode().replace("\0", " ")
            except (OSError, ValueError):
                continue
            if parent == self.process.pid and word in command:
                return int(entry.parent.name)
        raise AssertionError(f"no part {word} is running: {self.log()}")

    def stop(self) -> None:
        """Stop it as Ctrl-C does."""
        self.client.close()
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(SECONDS) == 0, self.log()


@contextmanager
def league(
    directory: Path, port: int | None = None, variables: Mapping[str, str] | None = None
) -> Iterator[League]:
    """Run a league from a directory; then stop it.

    Args:
        directory: of its data.
        port: of its front.
        variables: of its environment, beside those that keep it small.
    """
    running = League(directory, port or free_port(), variables or {})
    try:
        wait_for(
            lambda: running.is_up() or running.process.poll() is not None,
            running.log,
        )
        assert running.process.poll() is None, running.log()
        yield running
        running.stop()
    finally:
        running.client.close()
        running.process.kill()
        running.process.wait()


class RemoteBot(threading.Thread):
    """A bot that plays all its turns by long polls, each move chosen by a function.

    It outlives outages of the league: it notes each error and polls again.
    """

    def __init__(
        self, league: League, name: str, token: str, choose: Callable[[Any], str] | None = None
    ) -> None:
        super().__init__(daemon=True)
        self.name = name
        self._league = league
        self.headers = {"Authorization": f"Bearer {token}"}
        self._random = random.Random(name)
        self._choose = choose or (lambda seen: self._random.choice(seen["legal_moves"]))
        self._ended = threading.Event()
        self.moves: list[tuple[int, int, str]] = []
        self.answers: list[tuple[int, str]] = []
        self.outages: list[str] = []
        self.problems: list[httpx.Response] = []

    def run(self) -> None:
        """Play until `stop` is called."""
        with httpx.Client(
            base_url=f"{self._league.address}/api/v1/", timeout=40, verify=False
        ) as client:
            while not self._ended.is_set():
                try:
                    self._play(client)
                except httpx.HTTPError as error:
                    self.outages.append(repr(error))
                    self._ended.wait(0.1)
                except _OutageError as error:
                    self.outages.append(error.response.text)
                    self.problems.append(error.response)
                    self._ended.wait(0.1)

    def _play(self, client: httpx.Client) -> None:
        response = client.get("turns", params={"wait": 5}, headers=self.headers)
        if response.status_code != 200:
            raise _OutageError(response)
        for turn in response.json()["turns"]:
            move = self._choose(turn["observation"])
            answer = self.send(client, f"matches/{turn['match']}/moves", turn["turn"], move)
            if answer.status_code >= 500:
                raise _OutageError(answer)
            self.answers.append((answer.status_code, answer.json().get("code", "")))
            if answer.status_code == 200:
                self.moves.append((turn["match"], turn["turn"], answer.json()["move"]))

    def send(self, client: httpx.Client, path: str, turn: int, move: str) -> httpx.Response:
        """Send a move and return the answer."""
        return client.post(path, json={"turn": turn, "move": move}, headers=self.headers)

    def stop(self) -> None:
        """Have it play no more."""
        self._ended.set()


class _OutageError(Exception):
    def __init__(self, response: httpx.Response) -> None:
        super().__init__(response.text)
        self.response = response


def sign_up(league: League, username: str) -> str:
    """Make an account and return its owner token."""
    token: str = league.post("accounts", username=username, password="four calling birds")["token"]
    return token


def remote_bot(league: League, owner: str, name: str, **how: Any) -> RemoteBot:
    """Make a bot and have it play."""
    token = league.post("bots", owner, name=name, kind="remote")["token"]
    bot = RemoteBot(league, name, token, **how)
    bot.start()
    return bot


def tournament(
    league: League,
    organiser: str,
    bots: dict[str, str],
    ladder: str = "twelve-days",
    *,
    house_bots: bool = False,
) -> int:
    """Announce a tournament that starts at once, enter bots, and return its id.

    Args:
        league: where.
        organiser: owner token of an organiser.
        bots: names, each with the owner token of whom it belongs to.
        ladder: that it is rated on.
        house_bots: whether those of the house play too.
    """
    starts = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 4))
    announced = league.post(
        "tournaments",
        organiser,
        title=f"A test of {len(bots)}",
        ladder=ladder,
        starts_at=starts,
        house_bots=house_bots,
    )
    number: int = announced["id"]
    wait_for(lambda: league.get(f"tournaments/{number}")["state"] == "open", league.log)
    for name, owner in bots.items():
        entered = league.client.put(
            f"tournaments/{number}/entries/{name}", headers={"Authorization": f"Bearer {owner}"}
        )
        assert entered.status_code == 200, entered.text
    return number


def wait_for_end(league: League, number: int, seconds: float = SECONDS) -> Any:
    """Return a tournament after its end; the API may be down in between."""

    def over() -> Any:
        try:
            found = league.client.get(f"tournaments/{number}")
        except httpx.HTTPError:
            return None
        ended = found.status_code == 200 and found.json()["state"] in ("finished", "cancelled")
        return found.json() if ended else None

    return wait_for(over, league.log, seconds, every=0.5)


def recompute_agrees(running: League, ladder: str) -> bool:
    """Recompute a ladder; return False if a worker's own check of it still runs."""
    try:
        return "0 differ" in running.manage("recompute", ladder)
    except AssertionError as error:
        if "is being checked already" not in str(error):
            raise
        return False


def folded(running: League, ladder: str) -> dict[str, int]:
    """Return the ratings folded from the public records of the API."""
    rounds: dict[int, dict[int, list[MatchResult]]] = {}
    for match in running.all(f"matches?ladder={ladder}&status=finished"):
        record = read(json.dumps(running.get(f"matches/{match['id']}/record")).encode())
        assert verify(record).is_over
        faults = [fault.seat for fault in record.faults]
        out = [seat for seat in range(record.seats) if faults.count(seat) >= FAULTS_TO_FORFEIT]
        blocks = rounds.setdefault(match["round"], {})
        blocks.setdefault(match["block"], []).append(
            MatchResult(
                seating=tuple(seat["bot"] for seat in match["seating"]),
                places=rated_places(record.places, out),
            )
        )
    standings: dict[Any, elo.RatingState] = {}  # by name: the API shows no ids
    for _, blocks in sorted(rounds.items()):
        finished = elo.Round(
            [
                elo.Block(number, dict.fromkeys(results[0].seating, 1), results)
                for number, results in blocks.items()
            ]
        )
        standings = dict(elo.apply_round(standings, finished).states)
    return {bot: standing.rating for bot, standing in standings.items()}

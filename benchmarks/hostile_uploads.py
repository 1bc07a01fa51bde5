"""Clocks and turns of a league in play, without and beside ten hostile uploads.

Usage: python hostile_uploads.py --directory DIR --url http://127.0.0.1:8000 [--seconds 60]

The league runs: ``python -m devserver.up --port 8000 --directory DIR``. Remote bots play unrated
matches with house bots for the whole time. The second half adds ten owners who upload a hostile
bot each, again and again: they sleep, spin, print, allocate, fork, go deep, hang and raise. Those
that pass their check then play at mixed tables with a remote bot of their owner.

It prints how late the clock and the task tick are (the time between two runs beyond a second), how
long a remote bot waits from its move to its next turn, and what became of the uploads.
"""

import argparse
import io
import logging
import os
import random
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
sys.path.insert(0, str(CHECKOUT))

from bots_sdk import calls  # noqa: E402
from bots_sdk.client import Client, LeagueError  # noqa: E402
from bots_sdk.errors import ProblemError  # noqa: E402
from devserver.running import variables_of_running  # noqa: E402

REMOTE_BOTS = 4
MATCHES_EACH = 2
PASSWORD = "a long one for a trial"
FIRST = "    return observation['legal_moves'][0]\n"
CHOOSE = "def choose(observation):\n"


def archive() -> bytes:
    """Return an archive with as many files as allowed, as deep as allowed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("bot.py", CHOOSE + FIRST)
        for number in range(199):
            deep = "/".join(f"{letter}{number}" for letter in "abcdefgh")
            packed.writestr(f"{deep}/file.bin", os.urandom(100))
    return stream.getvalue()


HOSTILE: dict[str, bytes] = {
    "sleeps": f"import time\n{CHOOSE}    time.sleep(0.9)\n{FIRST}".encode(),
    "deep": archive(),
    "prints": f"{CHOOSE}    while True: print('x' * 10000)\n".encode(),
    "allocates": f"kept = []\n{CHOOSE}    while True: kept.append(bytes(1 << 20))\n".encode(),
    "forks": f"import os\n{CHOOSE}    while True:\n        try: os.fork()\n"
    "        except OSError: pass\n".encode(),
    "spins": f"{CHOOSE}    while True: pass\n".encode(),
    "writes": f"{CHOOSE}    open('big', 'wb').write(bytes(1 << 30))\n".encode(),
    "hangs": b"import time\ntime.sleep(1000)\n",
    "raises": b"raise SystemExit('no')\n",
    "threads": f"import threading\n{CHOOSE}    while True:\n        try: threading.Thread("
    "target=lambda: None).start()\n        except Exception: pass\n".encode(),
}


class Ticks:
    """A thread that measures by how much the ticks of the league are late."""

    def __init__(self) -> None:
        self.late: list[tuple[float, float]] = []
        """When the clock ran, and by how many seconds it was late."""
        self.tasks_late: list[tuple[float, float]] = []
        """The same for the task ``tick``, which beat queues each second."""
        threading.Thread(target=self._watch, args=(_clock, self.late), daemon=True).start()
        threading.Thread(target=self._watch, args=(_task, self.tasks_late), daemon=True).start()

    def _watch(self, read: Callable[[], float | None], late: list[tuple[float, float]]) -> None:
        last = None
        while True:
            ran = read()
            if ran is not None and last is not None and ran - last > 0.01:
                late.append((time.time(), max(0.0, ran - last - 1.0)))
            if last is None or ran is None or ran - last > 0.01:
                last = ran
            time.sleep(0.02)


def _clock() -> float | None:
    """Return the time until which deadlines are settled."""
    from league.models import Clock

    ran = Clock.objects.values_list("ran_until", flat=True).first()
    return ran.timestamp() if ran is not None else None


def _task() -> float | None:
    """Return when the task ``tick`` ended last."""
    from league import heartbeats

    age = heartbeats.seconds_since_tick()
    return None if age is None else time.time() - age


class Remote:
    """A thread that plays a remote bot, and measures how long it waits for turns."""

    def __init__(
        self, url: str, owner_token: str, name: str, opponents: list[str], matches: int
    ) -> None:
        self.name = name
        self._opponents, self._at_once = opponents, matches
        self.waits: list[tuple[float, float]] = []
        """When a turn came, and the seconds since the bot's last move in that match."""
        self.matches = 0
        self.errors: Counter[str] = Counter()
        self._url, self._owner_token = url, owner_token
        with Client(url, owner_token) as client:
            self._token = client.send(calls.create_bot(name, "remote"))["token"]
        threading.Thread(target=self._play, daemon=True).start()
        threading.Thread(target=self._keep_matches, daemon=True).start()

    def _keep_matches(self) -> None:
        luck = random.Random(self.name)
        with Client(self._url, self._owner_token) as client:
            while True:
                time.sleep(1)
                with suppress(LeagueError, ProblemError):
                    playing = client.send(calls.matches(bot=self.name, status="playing"))
                    for _ in range(self._at_once - len(playing["results"])):
                        others = luck.sample(HOUSE, 3 - len(self._opponents))
                        bots = [self.name, *self._opponents, *others]
                        client.send(calls.create_match("twelve-days", "calliope", bots))
                        self.matches += 1

    def _play(self) -> None:
        moved: dict[int, float] = {}
        with Client(self._url, self._token) as client:
            while True:
                try:
                    for turn in client.send(calls.turns(wait=25))["turns"]:
                        number = turn["match"]
                        if number in moved:
                            now = time.monotonic()
                            self.waits.append((time.time(), now - moved.pop(number)))
                        move = turn["observation"]["legal_moves"][0]
                        client.send(calls.move(number, turn["turn"], move))
                        moved[number] = time.monotonic()
                except (LeagueError, ProblemError) as error:
                    self.errors[str(getattr(error, "code", error))[:80]] += 1
                    time.sleep(0.1)


HOUSE = ["house-random", "house-thumb", "house-random-2", "house-thumb-2"]


class Attacker:
    """A thread that uploads one hostile bot again and again."""

    def __init__(self, url: str, client: Client, kind: str, stamp: str, *, tables: int) -> None:
        self.kind = kind
        self.results: list[tuple[str, float]] = []
        """States of its versions and the seconds from each upload to its result."""
        self.reason = ""
        self._url = url
        self._tables = tables
        self._own_table: Remote | None = None
        token = client.send(calls.create_account(f"{kind}-{stamp}", PASSWORD))
        self._token = token["token"]
        self._bot = f"{kind}-{stamp}"
        with Client(url, self._token) as own:
            own.send(calls.create_bot(self._bot, "hosted"))
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin to upload."""
        threading.Thread(target=self._attack, daemon=True).start()

    def stop(self) -> None:
        """Upload no more."""
        self._stopped.set()

    def _attack(self) -> None:
        with Client(self._url, self._token) as client:
            while not self._stopped.is_set():
                began = time.monotonic()
                try:
                    upload = calls.upload(self._bot, "bot.py", HOSTILE[self.kind])
                    number = client.send(upload)["number"]
                    version = client.send(calls.version(self._bot, number))
                    while version["state"] == "checking" and not self._stopped.wait(2):
                        version = client.send(calls.version(self._bot, number))
                    self.results.append((version["state"], time.monotonic() - began))
                    self.reason = client.send(calls.version_log(self._bot, number))["reason"]
                    if version["state"] == "ready" and self._own_table is None and self._tables:
                        self._own_table = Remote(
                            self._url, self._token, f"{self._bot}-r", [self._bot], self._tables
                        )
                except (LeagueError, ProblemError) as error:
                    self.results.append((f"error {getattr(error, 'code', '')}", 0.0))
                    self._stopped.wait(2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--directory", type=Path, required=True, help="of the running league")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--seconds", type=float, default=60, help="of each half")
    parser.add_argument(
        "--tables",
        type=int,
        default=20,
        help="matches of a hostile bot that passed its check, with a remote bot of its owner",
    )
    options = parser.parse_args()
    os.environ |= variables_of_running(options.directory)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    logging.disable(logging.INFO)
    stamp = f"{int(time.time()) % 10**6}"
    with Client(options.url) as client:
        account = client.send(calls.create_account(f"remotes-{stamp}", PASSWORD))
        remotes = [
            Remote(options.url, account["token"], f"remote-{stamp}-{number}", [], MATCHES_EACH)
            for number in range(REMOTE_BOTS)
        ]
        ticks = Ticks()
        attackers = [
            Attacker(options.url, client, kind, stamp, tables=options.tables) for kind in HOSTILE
        ]
        time.sleep(5)
        began = time.time()
        time.sleep(options.seconds)
        middle = time.time()
        for attacker in attackers:
            attacker.start()
        time.sleep(options.seconds)
        ended = time.time()
        for attacker in attackers:
            attacker.stop()
    for title, since, until in (("without", began, middle), ("beside them", middle, ended)):
        print(f"\n{title}, {until - since:.0f} s")
        within = _within(since, until)
        _print("  clock late, s", [late for at, late in ticks.late if within(at)])
        _print("  tick late, s", [late for at, late in ticks.tasks_late if within(at)])
        _print("  next turn, s", [w for each in remotes for at, w in each.waits if within(at)])
    print("\nuploads: results, seconds to a result, last reason")
    for attacker in attackers:
        states = dict(Counter(state for state, _ in attacker.results))
        longest = max((seconds for _, seconds in attacker.results), default=0.0)
        print(f"  {attacker.kind:10} {states} longest {longest:.1f} s  {attacker.reason[:90]}")
    print("errors of remote bots:", dict(sum((each.errors for each in remotes), Counter())))


def _within(since: float, until: float) -> Callable[[float], bool]:
    return lambda at: since <= at < until


def _print(title: str, values: list[float]) -> None:
    if not values:
        print(f"{title}: none")
        return
    ordered = sorted(values)
    p50, p99 = (ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.99))
    print(f"{title}: {len(values)}, p50 {p50:.3f}, p99 {p99:.3f}, worst {ordered[-1]:.3f}")


if __name__ == "__main__":
    main()

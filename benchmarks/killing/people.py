"""Owners and organisers who make calls without pause, each in a thread, by plain retries.

Each counts what the league has confirmed. `checking` compares the counts with the database: nothing
confirmed may be missing, and nothing may be there twice.
"""

import threading
import time
from collections import Counter
from contextlib import closing
from random import Random
from typing import Any

from benchmarks.killing.bots import LADDERS, RANDOM_BOT
from bots_sdk import calls
from bots_sdk.answers import Round
from bots_sdk.call import Call
from bots_sdk.client import Client, LeagueError, ProblemError, Retry

PASSWORD = "four calling birds"
_PATIENT = Retry(seconds=1200.0, max_wait_seconds=2.0)
_PAUSE_SECONDS = 2.0
_BLOCKS_OF_A_COMPARISON = 16
_START_SECONDS = 15.0


class Person:
    """An account whose owner repeats some calls until `stop`.

    Attributes:
        counts: of confirmed calls.
        problems: what should not have happened.

    Args:
        url: of the league.
        name: of the account.
    """

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        self.url = url
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.stopping = threading.Event()
        with closing(Client(url, retry=_PATIENT)) as client:
            token = client.send(calls.create_account(name, PASSWORD))["token"]
        self.client = Client(url, token, retry=_PATIENT, on_retry=self._note_retry)
        self._thread = threading.Thread(target=self._run, daemon=True, name=name)

    def start(self) -> None:
        """Begin to make calls."""
        self._thread.start()

    def stop(self, seconds: float = 1200.0) -> None:
        """Wait until the calls in hand are over."""
        self.stopping.set()
        self._thread.join(seconds)
        if self._thread.is_alive():
            self.problems.append(f"{self.name}: a call is not over after {seconds:.0f} s")
        self.client.close()

    def set_up(self) -> None:
        """Make the first calls."""

    def step(self) -> None:
        """Make the calls of one turn."""
        raise NotImplementedError

    def finish(self) -> None:
        """Make the last calls, after `stop`."""

    def send_once(self, call: Call[Any], *done: str) -> bool:
        """Make a call that has no key; return whether it, or an attempt before it, worked.

        Args:
            call: the call.
            done: codes of problems that a repetition of a call that worked may get.
        """
        retries = self.counts["retries"]
        try:
            self.client.send(call)
        except ProblemError as problem:
            if problem.code not in done or self.counts["retries"] == retries:
                self.problems.append(f"{self.name}: {call.method} {call.path}: {problem}")
                return False
            self.counts["answers of a repetition"] += 1
        return True

    def _note_retry(self, _error: LeagueError, _wait: float) -> None:
        self.counts["retries"] += 1

    def _run(self) -> None:
        self._try(self.set_up)
        while not self.stopping.wait(_PAUSE_SECONDS):
            self._try(self.step)
        self._try(self.finish)

    def _try(self, step: Any) -> None:
        try:
            step()
        except Exception as error:
            self.problems.append(f"{self.name}: {error!r}")
            self.stopping.wait(_PAUSE_SECONDS)


class TokenOwner(Person):
    """Creates owner tokens and bot tokens, and revokes each at once."""

    def set_up(self) -> None:
        """Create a remote bot, which never plays."""
        self.bot_token = self.client.send(calls.create_bot(f"{self.name}-bot", "remote"))["token"]

    def step(self) -> None:
        """Create a token, use it, revoke it, and try it again; replace the bot's token."""
        created = calls.create_token(self.name, PASSWORD, name="short-lived")
        mine = Client(self.url, self.client.send(created)["token"], retry=_PATIENT)
        with closing(mine):
            number = mine.send(calls.current_token())["id"]
            self.counts["tokens"] += 1
            if self.send_once(calls.delete_token(number), "not-found"):
                self._must_not_work(mine, "a revoked token")
                self.counts["revoked"] += 1
        old = Client(self.url, self.bot_token, retry=_PATIENT)
        with closing(old):
            self.bot_token = self.client.send(calls.new_bot_token(f"{self.name}-bot"))["token"]
            time.sleep(2.5)  # a process may remember a bot token for two seconds
            self._must_not_work(old, "a replaced token")
        with closing(Client(self.url, self.bot_token, retry=_PATIENT)) as new:
            new.send(calls.turns())
        self.counts["bot tokens"] += 1

    def _must_not_work(self, client: Client, what: str) -> None:
        try:
            client.send(calls.current_token())
        except ProblemError as problem:
            if problem.status == 401:
                return
            raise
        self.problems.append(f"{self.name}: {what} works")


class Comparer(Person):
    """Uploads versions of a hosted bot and compares them, again and again."""

    def set_up(self) -> None:
        """Create a hosted bot with two versions, and enter it on the ladders."""
        self.bot = f"{self.name}-bot"
        self.client.send(calls.create_bot(self.bot, "hosted"))
        self.versions = [self._upload(), self._upload()]
        for ladder in LADDERS:
            self.client.send(calls.enter_ladder(ladder, self.bot))

    def _upload(self) -> int:
        # The league refuses a file that is the same as one of the bot's versions.
        text = f"{RANDOM_BOT}\n# upload {self.counts['versions'] + 1}\n"
        version = self.client.send(calls.upload(self.bot, "bot.py", text.encode()))
        while version["state"] == "checking" and not self.stopping.wait(1.0):
            version = self.client.send(calls.version(self.bot, version["number"]))
        self.counts["versions"] += 1
        if version["state"] not in ("ready", "checking"):
            self.problems.append(f"{self.name}: version {version['number']}: {version}")
        return version["number"]

    def step(self) -> None:
        """Start a comparison, wait for some of its blocks, and cancel it."""
        newest, before = self.versions[-1], self.versions[-2]
        call = calls.compare(self.bot, LADDERS[0], newest, before)
        number = self.client.send(call)["id"]
        self.counts["comparisons"] += 1
        while not self.stopping.wait(_PAUSE_SECONDS):
            found = self.client.send(calls.comparison(number))
            if found["state"] != "running" or found["blocks"] >= _BLOCKS_OF_A_COMPARISON:
                break
        self.client.send(calls.cancel_comparison(number))
        if not self.stopping.is_set():
            self.versions.append(self._upload())


class Judge(Person):
    """An organiser, who makes blocks void, takes that back, and announces tournaments."""

    def __init__(self, url: str, name: str, seed: int) -> None:
        super().__init__(url, name)
        self._chance = Random(seed)
        self._void: list[tuple[str, int, int]] = []
        self._announced_at = 0.0

    def step(self) -> None:
        """Make the block of a rated round void, and let the oldest void block count again."""
        ladder = self._chance.choice(LADDERS)
        rounds = self.client.send(calls.ladder_rounds(ladder, limit=20))["results"]
        rated = [each for each in rounds if _is_rated(each) and each["tournament"] is None]
        if rated:
            self._make_void(ladder, self._chance.choice(rated)["number"])
        if len(self._void) > 1:
            self._restore()
        if time.monotonic() - self._announced_at > 120:
            starts = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + _START_SECONDS))
            announced = calls.create_tournament(
                title=f"Chaos {self.counts['tournaments'] + 1}",
                ladder=ladder,
                starts_at=starts,
                house_bots=True,
                format=self._chance.choice(("swiss", "knockout", "round-robin")),
            )
            self.client.send(announced)
            self.counts["tournaments"] += 1
            self._announced_at = time.monotonic()

    def finish(self) -> None:
        """Let all blocks count again."""
        while self._void:
            self._restore()

    def _make_void(self, ladder: str, round: int) -> None:
        where = (ladder, round, 0)
        # The league itself makes a block void if it has not begun when one of its bots gets a
        # new version; so a refusal would prove nothing.
        if where in self._void or self.client.send(calls.block(*where))["state"] == "void":
            return
        if self.send_once(calls.void_block(*where, "a trial"), "block-void"):
            self._void.append(where)
            self.counts["void marks"] += 1

    def _restore(self) -> None:
        where = self._void.pop(0)
        if self.send_once(calls.restore_block(*where, reason="a trial"), "block-not-void"):
            self.counts["void marks"] += 1


def _is_rated(row: Round) -> bool:
    return row["applied_at"] is not None

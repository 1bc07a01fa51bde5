"""Ladders with many matches for tests, and the workers that play them."""

from collections import Counter, deque
from random import Random

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from league import competitions, queueing, tasks
from league.models import Bot, Ladder, Match
from league.play import hosted, leases
from tests.league import small


def guests(
    ladder: Ladder, count: int = 1, kind: str = Bot.Kind.HOSTED, *, label: str = ""
) -> list[Bot]:
    """Put bots on a ladder, each with a separate owner; remote bots are online.

    A second call for bots of the same kind needs another label: it is part of their names.
    """
    made = []
    for number in range(count):
        name = f"{ladder.slug}-{label or kind}-{number}"
        [bot] = small.bots(1, User.objects.create(username=name), prefix=name)
        bot.kind, bot.seen_at = kind, timezone.now()
        bot.save()
        competitions.enter_ladder(ladder=ladder, bot=bot)
        made.append(bot)
    return made


def house(ladder: Ladder, count: int = 4) -> list[Bot]:
    made = small.bots(count, prefix=f"{ladder.slug}-house")
    for bot in made:
        competitions.enter_ladder(ladder=ladder, bot=bot)
    return made


class Workers:
    """So many workers on one queue, and the clock's worker, which is quicker than they are.

    Attributes:
        queue: ids of matches.
        first: ids of matches of placement, which workers take before those in the queue.
        held: by match that a worker plays, the lease.
        begun: matches that were begun, by ladder's slug.
    """

    def __init__(
        self, count: int, monkeypatch: pytest.MonkeyPatch, *, places: bool = False
    ) -> None:
        """Start the workers.

        Args:
            count: their number.
            monkeypatch: sends the tasks of matches here.
            places: whether new bots are placed; most tests are about the ladders' own rounds.
        """
        if not places:
            monkeypatch.setattr(competitions, "ladders_to_place_on", list)
        self.count = count
        self.queue: deque[int] = deque()
        self.held: dict[int, leases.Lease] = {}
        self.begun: Counter[str] = Counter()
        self._rng = Random(count)
        self.first: deque[int] = deque()
        monkeypatch.setattr(
            tasks.play_match,
            "apply_async",
            lambda args, queue: (self.first if queue == "placement" else self.queue).append(*args),
        )
        monkeypatch.setattr(tasks.fit_performance, "delay", lambda round_id: None)

    def take(self) -> None:
        """Have a worker that is free take the next match: there must be one."""
        assert self.first or self.queue, f"a worker has nothing to do; {len(self.held)} play"
        queueing.note_taken("placement" if self.first else "play")
        match_id = (self.first or self.queue).popleft()
        lease = leases.take(match_id)
        assert lease is not None
        self.held[match_id] = lease
        self.begun[Match.objects.get(pk=match_id).block.round.ladder.slug] += 1

    def finish(self) -> None:
        """Have one worker's match come to its end."""
        match_id = self._rng.choice(sorted(self.held))
        lease = self.held.pop(match_id)
        assert hosted.play_leased(match_id, lease.id, players=small.players)
        tasks.follow_up()

    def run(self, matches: int) -> None:
        """Begin so many matches, all workers playing all the time."""
        tasks.follow_up()
        for _ in range(matches):
            self.take()
            if len(self.held) == self.count:
                self.finish()
            else:
                tasks.follow_up()  # as the tick does, while workers start

    def end(self) -> None:
        """Finish what is drawn, and no more."""
        Ladder.objects.update(paused=True)
        while self.held or self.first or self.queue:
            while (self.first or self.queue) and len(self.held) < self.count:
                self.take()
            self.finish()

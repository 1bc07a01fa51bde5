"""Workers have work as long as somebody's bot can play, and all who wait for matches share them."""

import uuid
from collections import Counter, deque
from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from engine.pairing.tables import MAX_BLOCKS_PER_ROUND
from league import competitions, play, queueing, ratings, tasks
from league.competitions import ladder_rounds
from league.competitions.ladder_rounds import _blocks_drawn, _candidates
from league.models import Bot, Ladder, Match, Standing
from league.play import leases, match_queue
from league.play.match_queue import AHEAD, AHEAD_PER_WORKER
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


def guests(ladder: Ladder, count: int = 1, kind: str = Bot.Kind.HOSTED) -> list[Bot]:
    """Put bots on a ladder, each of an owner of its own; remote ones are online."""
    made = []
    for number in range(count):
        name = f"{ladder.slug}-{kind}-{number}"
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


@pytest.fixture
def busy() -> Ladder:
    """A ladder with four house bots and two of owners."""
    ladder = small.ladder("busy")
    house(ladder)
    guests(ladder, 2)
    return ladder


class Workers:
    """So many workers on one queue, and the clock's worker, which is quicker than they are.

    Attributes:
        queue: ids of matches.
        held: by match that a worker plays, the lease.
        begun: matches that were begun, by ladder's slug.
    """

    def __init__(self, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = count
        self.queue: deque[int] = deque()
        self.held: dict[int, uuid.UUID] = {}
        self.begun: Counter[str] = Counter()
        self._rng = Random(count)
        monkeypatch.setattr(tasks.play_match, "delay", self.queue.append)
        monkeypatch.setattr(tasks.fit_performance, "delay", lambda round_id: None)

    def take(self) -> None:
        """Have a worker that is free take the next match: there must be one."""
        assert self.queue, f"a worker has nothing to do; {len(self.held)} play"
        match_id = self.queue.popleft()
        lease = leases.take(match_id)
        assert lease is not None
        self.held[match_id] = lease
        self.begun[Match.objects.get(pk=match_id).block.round.ladder.slug] += 1

    def finish(self) -> None:
        """Have one worker's match come to its end."""
        match_id = self._rng.choice(sorted(self.held))
        leases.give_back(match_id, self.held.pop(match_id))
        assert play.play_match(match_id, players=small.players)
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
        while self.held or self.queue:
            while self.queue and len(self.held) < self.count:
                self.take()
            self.finish()


@pytest.mark.parametrize("count", [1, 5])
def test_a_worker_that_becomes_free_always_finds_a_match(
    busy: Ladder, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = Workers(count, monkeypatch)
    workers.run(60)
    workers.end()
    rounds = list(busy.rounds.order_by("number"))
    assert len(rounds) >= 5
    assert all(round_.applied_at for round_ in rounds)
    assert [r.applied_at for r in rounds] == sorted(r.applied_at for r in rounds if r.applied_at)
    assert sum(busy.standings.values_list("rating", flat=True)) == 6 * 1_500_000
    assert ratings.recompute(busy) == []
    everybody = set(busy.entries.values_list("bot", flat=True))
    for round_ in rounds:
        sat = Counter(round_.blocks.values_list("bots__bot", flat=True))
        assert set(sat) == everybody  # nobody waits for a second round
        assert max(sat.values()) <= MAX_BLOCKS_PER_ROUND


def test_the_next_round_opens_once_no_more_matches_wait_than_are_played(busy: Ladder) -> None:
    assert competitions.open_ladder_round(busy.pk) is not None
    waiting = list(Match.objects.order_by("pk").values_list("pk", flat=True))
    taken = 0
    while 2 * taken < len(waiting):
        assert competitions.ladders_to_pair() == []
        assert competitions.open_ladder_round(busy.pk) is None
        assert leases.take(waiting[taken]) is not None
        taken += 1
    assert competitions.ladders_to_pair() == [busy.pk]
    opened = competitions.open_ladder_round(busy.pk)
    assert opened is not None
    assert opened.number == 2
    assert competitions.ladders_to_pair() == []


def test_a_later_round_is_not_applied_before_those_that_opened_earlier(busy: Ladder) -> None:
    first = competitions.open_ladder_round(busy.pk)
    assert first is not None
    held = list(Match.objects.values_list("pk", flat=True))
    for match_id in held:
        assert leases.take(match_id) is not None
    second = competitions.open_ladder_round(busy.pk)
    assert second is not None
    small.play_due()
    assert not second.blocks.filter(state="playing").exists()
    assert not ratings.close_round(second.pk)
    assert ratings.rounds_to_close() == []
    Match.objects.filter(pk__in=held).update(leased_until=timezone.now(), due_at=timezone.now())
    small.play_due()
    assert ratings.rounds_to_close() == [first.pk]
    tasks.follow_up()  # closes both
    assert not busy.rounds.filter(pk__in=[first.pk, second.pk], applied_at=None).exists()
    assert ratings.recompute(busy) == []


def test_blocks_that_are_drawn_count_as_played_for_who_comes_first(busy: Ladder) -> None:
    late = guests(busy, 3, kind="late")
    Bot.objects.filter(pk__in=[bot.pk for bot in late]).update(kind=Bot.Kind.HOSTED)
    before = {one.bot: one.blocks for one in _candidates(busy)}
    opened = competitions.open_ladder_round(busy.pk)
    assert opened is not None
    sat = Counter(opened.blocks.values_list("bots__bot", flat=True))
    after = {one.bot: one.blocks for one in _candidates(busy)}
    assert after == {bot: blocks + sat[bot] for bot, blocks in before.items()}
    voided = opened.blocks.first()
    assert voided is not None
    gone = set(voided.bots.values_list("bot", flat=True))
    play.void_block(voided.pk)
    assert _blocks_drawn(busy) == {
        bot: count - (bot in gone) for bot, count in sat.items() if count > (bot in gone)
    }


def test_rounds_that_one_match_holds_up_are_no_more_than_so_many(
    busy: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder_rounds, "MAX_OPEN_ROUNDS", 3)
    assert competitions.open_ladder_round(busy.pk) is not None
    slow = Match.objects.order_by("pk").first()
    assert slow is not None
    assert leases.take(slow.pk) is not None
    opened = 1
    small.play_due()
    while competitions.open_ladder_round(busy.pk):
        opened += 1
        small.play_due()
    assert opened == 3
    assert competitions.ladders_to_pair() == []


def test_rounds_pause_once_all_have_played_enough_and_no_more_when_a_new_version_comes() -> None:
    ladder = small.ladder()
    house(ladder)
    [guest] = guests(ladder)
    assert ladder.settled_blocks == 400
    Ladder.objects.update(settled_blocks=5)
    ladder.refresh_from_db()
    competitions.open_ladder_round(ladder.pk)
    small.run_all()
    assert competitions.open_ladder_round(ladder.pk) is not None
    small.run_all()
    ladder.standings.update(blocks=5)
    assert competitions.open_ladder_round(ladder.pk) is None
    assert "The next round is drawn in" in competitions.when_due(ladder.standings.get(bot=guest))
    ladder.standings.filter(bot=guest).update(blocks=4)
    assert "The next round is drawn at once" in competitions.when_due(
        ladder.standings.get(bot=guest)
    )
    assert competitions.open_ladder_round(ladder.pk) is not None


def test_house_bots_alone_pause_and_do_not_once_somebody_is_there() -> None:
    ladder = small.ladder()
    house(ladder)
    assert (ladder.round_pause_seconds, ladder.idle_pause_seconds) == (0, 20)
    assert competitions.open_ladder_round(ladder.pk) is not None
    for match_id in Match.objects.values_list("pk", flat=True):
        leases.take(match_id)
    assert competitions.open_ladder_round(ladder.pk) is None  # they don't overlap, either
    Match.objects.update(leased_until=timezone.now(), due_at=timezone.now())
    small.run_all()
    assert competitions.open_ladder_round(ladder.pk) is None
    [guest] = guests(ladder)
    for blocks in ({"paused": True}, {"current": None}):
        Bot.objects.filter(pk=guest.pk).update(**blocks)
        assert competitions.open_ladder_round(ladder.pk) is None
        Bot.objects.filter(pk=guest.pk).update(paused=False, current=guest.current)
    assert competitions.open_ladder_round(ladder.pk) is not None


def test_an_organisers_pause_holds_for_everybody(busy: Ladder) -> None:
    Ladder.objects.update(round_pause_seconds=60)
    assert competitions.open_ladder_round(busy.pk) is not None
    for match_id in Match.objects.values_list("pk", flat=True):
        leases.take(match_id)
    assert competitions.open_ladder_round(busy.pk) is None
    Match.objects.update(leased_until=timezone.now(), due_at=timezone.now())
    small.run_all()
    assert competitions.open_ladder_round(busy.pk) is None
    busy.rounds.update(applied_at=timezone.now() - timedelta(seconds=61))
    assert competitions.open_ladder_round(busy.pk) is not None


# -- Remote bots: in matches in play for as long as their owners' machines take ------------------


def test_bots_that_run_here_do_not_wait_for_remote_ones(busy: Ladder) -> None:
    remote = {bot.pk for bot in guests(busy, 2, kind=Bot.Kind.REMOTE)}
    assert competitions.open_ladder_round(busy.pk) is not None
    assert remote <= set(_blocks_drawn(busy))
    small.play_due()  # all but the live ones
    assert Match.objects.filter(status="waiting").exists()
    opened = competitions.open_ladder_round(busy.pk)
    assert opened is not None
    assert not remote & set(opened.blocks.values_list("bots__bot", flat=True))


def test_remote_bots_are_drawn_again_when_half_of_those_online_are_done(busy: Ladder) -> None:
    remote = {bot.pk for bot in guests(busy, 4, kind=Bot.Kind.REMOTE)}

    def free() -> set[int]:
        return remote & {one.bot for one in _candidates(busy)}

    assert free() == remote
    assert competitions.open_ladder_round(busy.pk) is not None
    assert free() == set()
    live = Match.objects.filter(live=True)
    tables = {
        bot: set(live.filter(seating__bot=bot).values_list("block", flat=True)) for bot in remote
    }
    for block in live.order_by("block").values_list("block", flat=True).distinct():
        play.void_block(block)
        for blocks in tables.values():
            blocks.discard(block)
        done = {bot for bot, blocks in tables.items() if not blocks}
        assert free() == (done if 2 * len(done) >= len(remote) else set())
    assert free() == remote


def test_house_bots_rest_while_the_only_guest_is_at_its_live_tables() -> None:
    ladder = small.ladder()
    house(ladder)
    guests(ladder, kind=Bot.Kind.REMOTE)
    assert competitions.open_ladder_round(ladder.pk) is not None
    small.play_due()
    assert competitions.open_ladder_round(ladder.pk) is None


def test_a_remote_bots_page_says_that_it_plays(busy: Ladder) -> None:
    [bot] = guests(busy, 1, kind=Bot.Kind.REMOTE)
    assert competitions.open_ladder_round(busy.pk) is not None
    standing = Standing.objects.create(ladder=busy, bot=bot, rating=1_500_000, blocks=1, version=1)
    assert "It plays now" in competitions.when_due(standing)


# -- Sharing -------------------------------------------------------------------------------------


@pytest.fixture
def crowded() -> Ladder:
    """A ladder with so many bots that a round of it is long, beside `busy`."""
    ladder = small.ladder("crowded")
    guests(ladder, 24)
    return ladder


@pytest.mark.parametrize("count", [3])
def test_ladders_share_the_workers_however_long_their_rounds_are(
    busy: Ladder, crowded: Ladder, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = Workers(count, monkeypatch)
    workers.run(80)
    assert sum(workers.begun.values()) == 80
    assert min(workers.begun["busy"], workers.begun["crowded"]) >= 25


def of(taken: list[int]) -> list[tuple[str | None, int | None]]:
    """Return of whom matches are: the ladder's slug and the tournament's id."""
    found = Match.objects.in_bulk(taken)
    blocks = [found[match_id].block for match_id in taken]
    return [
        (block.round.ladder.slug, block.round.tournament_id) if block else (None, None)
        for block in blocks
    ]


def test_ladders_tournaments_and_what_owners_ask_for_take_turns(
    busy: Ladder, crowded: Ladder
) -> None:
    for ladder in (crowded, busy):
        competitions.open_ladder_round(ladder.pk)
    tournament = small.tournament(crowded)
    competitions.advance(tournament.pk)
    versions = [bot.current for bot in Bot.objects.filter(name__startswith="crowded")[:3]]
    play.open_unrated_match(game="twelve-days", rules="eight-nights", versions=versions)  # type: ignore[arg-type]
    taken = of(play.claim_due_hosted())
    who = {("busy", None), ("crowded", None), ("crowded", tournament.pk), (None, None)}
    assert set(taken[:4]) == who
    assert set(taken[4:7]) == who - {(None, None)}
    assert max(Counter(taken).values()) == AHEAD
    assert play.claim_due_hosted() == []


def test_the_queue_holds_more_the_more_workers_play(crowded: Ladder) -> None:
    competitions.open_ladder_round(crowded.pk)
    Match.objects.update(due_at=timezone.now())
    first = play.claim_due_hosted()
    assert len(first) == AHEAD
    for match_id in first[:3]:
        assert leases.take(match_id) is not None
    # Three places are free, and there is more room for three that play.
    left = Match.objects.count() - AHEAD
    assert len(play.claim_due_hosted()) == min(left, 3 + 3 * AHEAD_PER_WORKER)


def test_comparisons_have_their_share_beside_ladders_and_wait_for_tournaments() -> None:
    group = match_queue._Group
    swap = group(None, None, True, due=100, queued=0, playing=0)
    ladder = group(1, None, False, due=100, queued=0, playing=0)
    tournament = group(1, 1, False, due=100, queued=0, playing=0)
    assert dict(match_queue._rooms([swap, ladder])) == {swap: AHEAD, ladder: AHEAD}
    rooms = dict(match_queue._rooms([swap, ladder, tournament]))
    assert rooms == {swap: match_queue.MAX_COMPARED, ladder: AHEAD, tournament: AHEAD}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the tasks that are queued by name."""
    names: list[str] = []
    monkeypatch.setattr(queueing, "queue", lambda task, *ids: names.append(task))
    queueing.note_begun("follow_up")
    yield names
    queueing.note_begun("follow_up")


def test_matches_that_end_while_one_follow_up_waits_ask_for_no_other(
    busy: Ladder, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def play_without_a_sandbox(match_id: int) -> bool:
        return real(match_id, players=small.players)

    real = play.play_match
    monkeypatch.setattr(play, "play_match", play_without_a_sandbox)
    queued: list[Any] = []
    monkeypatch.setattr(tasks.play_match, "delay", queued.append)
    competitions.open_ladder_round(busy.pk)
    first, second, third, *_ = play.claim_due_hosted()
    tasks.play_match(first)
    tasks.play_match(second)
    assert sent == ["follow_up"]
    tasks.follow_up()
    tasks.play_match(third)
    assert sent == ["follow_up"] * 2

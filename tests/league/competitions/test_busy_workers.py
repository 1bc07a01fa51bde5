"""When ladder rounds open: workers have matches as long as bots want to play."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from engine.pairing.tables import MAX_BLOCKS_PER_ROUND
from league import competitions, play, ratings, tasks
from league.competitions import ladder_rounds
from league.competitions.ladder_rounds import _blocks_drawn, _entrants
from league.models import Block, Bot, Ladder, Match, Standing
from league.play import leases
from league.play.turns import note_all_seen
from tests.league import small
from tests.league.competitions.busy import Workers, guests, house

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def busy() -> Ladder:
    """A ladder with four house bots and two of owners."""
    ladder = small.ladder("busy")
    house(ladder)
    guests(ladder, 2)
    return ladder


@pytest.mark.parametrize("count", [1, 5])
def test_a_worker_that_becomes_free_always_finds_a_match(
    busy: Ladder, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = Workers(count, monkeypatch)
    workers.run(60)
    workers.end()
    rounds = list(busy.rounds.order_by("applied_number"))
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


def test_a_round_that_closes_first_is_applied_first(busy: Ladder) -> None:
    first = competitions.open_ladder_round(busy.pk)
    assert first is not None
    held = list(Match.objects.values_list("pk", flat=True))
    for match_id in held:
        assert leases.take(match_id) is not None
    second = competitions.open_ladder_round(busy.pk)
    assert second is not None
    small.play_due()
    assert not second.blocks.filter(state="playing").exists()
    assert ratings.rounds_to_apply() == [second.pk]
    assert ratings.apply_round(second.pk)
    Match.objects.filter(pk__in=held).update(leased_until=timezone.now(), due_at=timezone.now())
    small.play_due()
    assert ratings.rounds_to_apply() == [first.pk]
    tasks.follow_up()
    by_number = dict(busy.rounds.applied().values_list("number", "applied_number"))
    assert by_number == {1: 2, 2: 1}
    assert ratings.recompute(busy) == []


def test_drawn_blocks_count_as_played_when_the_next_round_is_drawn(busy: Ladder) -> None:
    guests(busy, 3, label="late")
    before = {one.bot: one.blocks for one in _entrants(busy)}
    opened = competitions.open_ladder_round(busy.pk)
    assert opened is not None
    sat = Counter(opened.blocks.values_list("bots__bot", flat=True))
    after = {one.bot: one.blocks for one in _entrants(busy)}
    assert after == {bot: blocks + sat[bot] for bot, blocks in before.items()}
    voided = opened.blocks.first()
    assert voided is not None
    gone = set(voided.bots.values_list("bot", flat=True))
    play.void_unfinished_block(voided.pk)
    assert _blocks_drawn(busy) == {
        bot: count - (bot in gone) for bot, count in sat.items() if count > (bot in gone)
    }


def test_one_slow_match_delays_no_other_round(
    busy: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder_rounds, "MAX_OPEN_ROUNDS", 3)
    assert competitions.open_ladder_round(busy.pk) is not None
    slow = Match.objects.order_by("pk").first()
    assert slow is not None
    assert leases.take(slow.pk) is not None
    for _ in range(5):
        small.run_once()
        assert competitions.open_ladder_round(busy.pk) is not None
    small.run_once()
    assert busy.rounds.applied().count() == 5
    assert busy.rounds.open().get().number == 1


def test_a_ladder_has_a_limited_number_of_open_rounds(
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


def test_rounds_pause_once_all_bots_are_settled_and_go_on_with_a_new_version() -> None:
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
    other = ladder.standings.exclude(bot=guest).earliest("pk").bot
    assert competitions.open_ladder_round(ladder.pk) is None
    assert "Its next block comes in" in competitions.describe_next_block(
        ladder.standings.get(bot=other)
    )
    ladder.standings.filter(bot=guest).update(blocks=4)
    text = competitions.describe_next_block(ladder.standings.get(bot=other))
    assert "1 other bot goes first, because it has played fewer blocks." in text
    assert competitions.open_ladder_round(ladder.pk) is not None


def test_rounds_of_house_bots_pause_until_another_bot_enters() -> None:
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


def test_an_organisers_pause_applies_to_all_bots(busy: Ladder) -> None:
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


def test_hosted_bots_do_not_wait_for_remote_bots(busy: Ladder) -> None:
    remote = {bot.pk for bot in guests(busy, 2, kind=Bot.Kind.REMOTE)}
    assert competitions.open_ladder_round(busy.pk) is not None
    assert remote <= set(_blocks_drawn(busy))
    small.play_due()  # all but the live ones
    assert Match.objects.filter(status="waiting").exists()
    opened = competitions.open_ladder_round(busy.pk)
    assert opened is not None
    assert not remote & set(opened.blocks.values_list("bots__bot", flat=True))


def test_remote_bots_are_drawn_again_when_half_of_them_are_free(busy: Ladder) -> None:
    remote = {bot.pk for bot in guests(busy, 4, kind=Bot.Kind.REMOTE)}

    def free() -> set[int]:
        return remote & {one.bot for one in _entrants(busy)}

    assert free() == remote
    assert competitions.open_ladder_round(busy.pk) is not None
    assert free() == set()
    live = Match.objects.filter(live=True)
    tables = {
        bot: set(live.filter(seating__bot=bot).values_list("block", flat=True)) for bot in remote
    }
    for block in live.order_by("block").values_list("block", flat=True).distinct():
        play.void_unfinished_block(block)
        for blocks in tables.values():
            blocks.discard(block)
        done = {bot for bot, blocks in tables.items() if not blocks}
        assert free() == (done if 2 * len(done) >= len(remote) else set())
    assert free() == remote


def test_a_remote_bot_that_comes_online_is_drawn_while_the_others_play(busy: Ladder) -> None:
    guests(busy, 3, kind=Bot.Kind.REMOTE)
    assert competitions.open_ladder_round(busy.pk) is not None
    [late] = guests(busy, 1, kind=Bot.Kind.REMOTE, label="late")
    assert late.pk not in {one.bot for one in _entrants(busy)}
    Bot.objects.filter(pk=late.pk).update(seen_at=timezone.now() - timedelta(seconds=90))
    note_all_seen([late.pk], timezone.now())
    assert late.pk in {one.bot for one in _entrants(busy)}


def test_a_remote_bot_that_comes_online_ends_the_pause_of_settled_bots() -> None:
    ladder = small.ladder()
    house(ladder)
    [remote] = guests(ladder, kind=Bot.Kind.REMOTE)
    assert competitions.open_ladder_round(ladder.pk) is not None
    for block in Block.objects.all():
        play.void_unfinished_block(block.pk)
    [round_id] = ratings.rounds_to_apply()
    assert ratings.apply_round(round_id)
    ladder.standings.all().delete()
    for bot in Bot.objects.all():
        Standing.objects.create(ladder=ladder, bot=bot, rating=1_500_000, blocks=9, version=1)
    Ladder.objects.update(settled_blocks=9)
    assert competitions.ladders_to_pair() == []
    assert competitions.open_ladder_round(ladder.pk) is None
    Bot.objects.filter(pk=remote.pk).update(online_since=timezone.now())
    assert competitions.ladders_to_pair() == [ladder.pk]
    assert competitions.open_ladder_round(ladder.pk) is not None


def test_house_bots_pause_while_the_only_other_bot_plays_live_matches() -> None:
    ladder = small.ladder()
    house(ladder)
    guests(ladder, kind=Bot.Kind.REMOTE)
    assert competitions.open_ladder_round(ladder.pk) is not None
    small.play_due()
    assert competitions.open_ladder_round(ladder.pk) is None


def test_a_remote_bot_in_a_live_match_is_described_as_playing(busy: Ladder) -> None:
    [bot] = guests(busy, 1, kind=Bot.Kind.REMOTE)
    assert competitions.open_ladder_round(busy.pk) is not None
    standing = Standing.objects.create(ladder=busy, bot=bot, rating=1_500_000, blocks=1, version=1)
    assert (
        "It has unfinished matches. Its next block comes after them"
        in competitions.describe_next_block(standing)
    )


# -- Sharing -------------------------------------------------------------------------------------

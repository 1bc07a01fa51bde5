"""The highlights of a day."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from engine.cli import simulate
from engine.deals import SEED_BYTES, commitment
from engine.games.partridge import Partridge
from engine.playback import play_back
from engine.record import Record
from league import bots, competitions, feeds, play, ratings
from league.feeds import highlights
from league.feeds.highlights import highlights_on
from league.feeds.moments import deciding_step, last_step, moments, step_of_move
from league.models import (
    Block,
    Bot,
    Highlight,
    Ladder,
    Match,
    MatchAnalysis,
    MatchSeat,
    RoundEntry,
    Tournament,
)
from league.visibility import may_see_record, public_results
from tests.league import small
from tests.league.kept import kept
from web.table.replays import replay_steps

pytestmark = pytest.mark.django_db(transaction=True)

Find = Callable[[], dict[str, Highlight]]


@pytest.fixture
@kept
def played() -> Tournament:
    """Two tournaments played to their end by four bots; the second has ratings to upset."""
    ladder = small.ladder("eagles", seats=2)
    small.bots(4)
    for number in range(2):
        tournament = small.tournament(ladder)
        seed = bytes([2 + number]) * SEED_BYTES  # in these deals, bots come back
        Tournament.objects.filter(pk=tournament.pk).update(seed=seed, commitment=commitment(seed))
        small.run_all()
    tournament.refresh_from_db()
    return tournament


@pytest.fixture
def find(played: Tournament) -> Find:
    """A function that finds and returns the highlights of the day of the matches, by kind."""
    cache.clear()
    first = Match.objects.earliest("finished_at").finished_at
    assert first is not None
    Match.objects.update(finished_at=first)

    def found() -> dict[str, Highlight]:
        day = first.astimezone(UTC).date()
        feeds.find_highlights(day)
        return {each.kind: each for each in highlights_on([day])}

    return found


def test_the_upset_is_the_win_over_the_bot_rated_highest_above_the_winner(find: Find) -> None:
    gaps = {}
    for match in Match.objects.filter(block__round__in=RoundEntry.objects.values("round")):
        assert match.block is not None
        rated = {
            entry.bot_id: entry.rating_before
            for entry in RoundEntry.objects.filter(round=match.block.round_id)
        }
        seats = sorted(match.seating.all(), key=lambda seat: rated[seat.bot_id])
        gaps[match.pk] = rated[seats[1].bot_id] - rated[seats[0].bot_id]
        # At first, the favourites win.
        places = {seat.bot_id: place for place, seat in enumerate(reversed(seats), 1)}
        small.set_places([match], places.__getitem__)
    assert "upset" not in find()
    second, largest = sorted(gaps, key=lambda pk: gaps[pk])[-2:]
    for match in Match.objects.filter(pk__in=[second, largest]):
        Match.objects.filter(pk=match.pk).update(places=[3 - place for place in match.places])
    upset = find()["upset"]
    assert upset.number == gaps[largest] // 1000 > 0
    winner, loser = MatchSeat.objects.filter(match=upset.match_id).order_by("place")
    assert (winner.bot, loser.bot) == (upset.bot, upset.opponent)


def test_an_upset_is_found_in_a_round_that_was_rated_after_a_correction(
    find: Find, played: Tournament
) -> None:
    block = Block.objects.filter(round__ladder=played.ladder).earliest("pk")
    ratings.mark_void(block_id=block.pk, reason="a power cut")
    assert ratings.correct(played.ladder.pk) is not None
    now = Match.objects.earliest("pk").finished_at
    assert now is not None
    Match.objects.update(finished_at=now - timedelta(days=1))
    later = small.tournament(played.ladder)
    small.run_all()
    matches = Match.objects.filter(block__round__tournament=later)
    matches.update(finished_at=now)
    for entry in RoundEntry.objects.filter(round__tournament=later).order_by("-rating_before"):
        for match in matches.filter(block__round=entry.round_id, bot_ids__contains=[entry.bot_id]):
            # The bot that is rated lowest comes last here, so it wins.
            places = {bot: 1 if bot == entry.bot_id else 2 for bot in match.bot_ids}
            small.set_places([match], places.__getitem__)
    assert find()["upset"].number > 0


def test_the_closest_match_has_the_fewest_points_between_the_best_two(find: Find) -> None:
    margins = [
        abs((first.score or 0) - (second.score or 0))
        for first, second in (match.seating.all() for match in Match.objects.all())
    ]
    assert find()["closest"].number == min(margins)


def test_the_longest_streak_counts_wins_without_another_result_between(find: Find) -> None:
    winner = Bot.objects.get(name="bot-0").pk
    small.set_places(Match.objects.with_bots(winner), lambda bot: 1 if bot == winner else 2)
    longest = 0
    for bot in Bot.objects.all():
        run = 0
        for seat in MatchSeat.objects.filter(bot=bot).order_by("match"):
            run = run + 1 if seat.place == 1 else 0
            longest = max(longest, run)
    assert longest >= 12
    assert find()["streak"].number == longest


def test_a_comeback_is_as_large_as_the_most_points_behind(find: Find) -> None:
    worst = 0
    for match in Match.objects.all():
        first, second = match.seating.order_by("place")
        if first.place == second.place:
            continue
        for _, _, state in play_back(match.record):
            assert isinstance(state, Partridge)
            worst = max(worst, state.gifts[second.seat] - state.gifts[first.seat])
    assert worst > 0
    found = find()["comeback"]
    assert found.number == worst
    assert find()["comeback"].pk == found.pk


def test_a_highlight_shows_the_step_in_which_its_winner_took_the_lead(find: Find) -> None:
    for each in (found := find()).values():
        assert each.match is not None
        winner = each.match.seating.get(bot=each.bot).seat
        assert each.step is not None
        if each.kind == "closest":
            continue
        for _, step, points in moments(each.match.record):
            others = max(own for seat, own in enumerate(points) if seat != winner)
            if step > each.step:
                assert points[winner] > others
        before = [points for _, step, points in moments(each.match.record) if step < each.step]
        assert not before or before[-1][winner] <= max(
            own for seat, own in enumerate(before[-1]) if seat != winner
        )
    assert {"streak", "comeback"} <= set(found)


def test_the_closest_match_shows_its_end_with_the_points_of_its_sentence(find: Find) -> None:
    closest = find()["closest"]
    assert closest.match is not None
    assert closest.step is not None
    steps = replay_steps(closest.match.record, ["a", "b"])
    assert closest.step == len(steps)
    assert [seat.points for seat in steps[-1].seats] == closest.match.scores


def test_the_end_of_12_days_is_a_step_after_the_last_day() -> None:
    choose = random.Random(5).choice
    record = simulate("twelve-days", "calliope", 4, bytes(range(32)), choose, "random")
    found = list(moments(record))
    assert [each.step for each in found][-2:] == [12, 13]
    assert sum(found[-1].points) > sum(found[-2].points)
    assert found[0] == (0, 1, (0, 0, 0, 0))
    assert step_of_move(record, 0) == 1
    assert step_of_move(record, len(record.moves) - 1) == 12
    winner = found[-1].points.index(max(found[-1].points))
    assert 1 <= deciding_step(record, winner) <= 13
    assert last_step(record) == 13 == len(replay_steps(record, ["a", "b", "c", "d"]))
    assert deciding_step(record, found[-1].points.index(min(found[-1].points))) == 13


def test_a_highlight_names_the_largest_mistake_when_its_match_is_analysed(find: Find) -> None:
    closest = find()["closest"]
    assert closest.mistake is None
    assert closest.match is not None
    loser = closest.match.seating.order_by("place").last()
    assert loser is not None
    decision = {
        "seat": loser.seat,
        "phase": "lead",
        "move": "play 7",
        "best": "play 2",
        "error": 0.01,
        "is_exact": False,
        "fault": None,
        "results": {},
    }
    last = len(closest.match.record.moves) - 1
    decisions = [
        decision | {"ply": ply, "loss": loss, "mark": mark}
        for ply, loss, mark in ((0, 0.5, "fine"), (last, 0.2, "blunder"), (1, 0.05, "mistake"))
    ]
    rest = {"version": 1, "playouts": 16, "chances": [], "totals": []}
    MatchAnalysis.objects.create(
        match=closest.match,
        version=1,
        finished_at=timezone.now(),
        packed_result=MatchAnalysis.pack(rest | {"decisions": decisions}),
    )
    again = find()["closest"]
    assert again.mistaken == loser.bot.name
    assert again.mistake == {
        "seat": loser.seat,
        "step": step_of_move(closest.match.record, last),
        "move": "play 7",
        "best": "play 2",
        "loss": 0.2,
    }
    assert closest.match.block is not None
    Block.objects.filter(pk=closest.match.block.pk).update(state=Block.State.VOID)
    assert find()["closest"].mistake is None


def test_the_next_comeback_follows_one_that_a_correction_made_void(
    find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {bytes(match.record.deal_seed): 100 + match.pk for match in Match.objects.all()}

    def measured(record: Record, winner: int) -> int:
        return sizes[bytes(record.deal_seed)]

    monkeypatch.setattr(highlights, "comeback", measured)
    first = find()["comeback"]
    block = first.match.block
    Block.objects.filter(pk=block.pk).update(state=Block.State.VOID)
    second = find()["comeback"]
    assert second.match.block_id != block.pk
    assert second.number < first.number
    Block.objects.update(state=Block.State.VOID)
    assert "comeback" not in find()


def test_a_comeback_is_found_when_its_block_ends_after_later_matches(
    find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = list(Block.objects.filter(rated=True).order_by("pk"))
    early = blocks[0].matches.earliest("pk")
    assert early.finished_at is not None
    Match.objects.exclude(block=blocks[0]).update(
        finished_at=early.finished_at + timedelta(microseconds=1)
    )
    sizes = {bytes(match.record.deal_seed): match.pk for match in Match.objects.all()}
    sizes[bytes(early.record.deal_seed)] = 100_000
    replayed = []

    def measured(record: Record, winner: int) -> int:
        replayed.append(sizes[bytes(record.deal_seed)])
        return replayed[-1]

    monkeypatch.setattr(highlights, "comeback", measured)
    Block.objects.filter(pk=blocks[0].pk).update(state=Block.State.PLAYING)
    assert find()["comeback"].number < 100_000
    replayed.clear()
    assert find()["comeback"].number < 100_000
    assert replayed == []
    Block.objects.filter(pk=blocks[0].pk).update(state=Block.State.FINISHED)
    assert find()["comeback"].number == 100_000
    assert set(replayed) == {100_000}
    replayed.clear()
    find()
    assert replayed == []


def test_the_best_new_bot_has_the_highest_rating_of_those_made_that_day(
    find: Find, played: Tournament
) -> None:
    assert "newcomer" not in find()
    Bot.objects.filter(name__in=["bot-1", "bot-2"]).update(
        kind=Bot.Kind.HOSTED, owner=User.objects.create(username="ada")
    )
    best = (
        played.ladder.standings.filter(bot__name__in=["bot-1", "bot-2"]).order_by("-rating").first()
    )
    assert best is not None
    found = find()["newcomer"]
    assert (found.bot_id, found.number) == (best.bot_id, round(best.rating / 1000))
    assert found.match is not None  # the bot's last win shows it
    winners = [seat.bot_id for seat in found.match.seating.all() if seat.place == 1]
    assert winners == [best.bot_id]
    assert found.step


def test_a_bot_that_its_owner_deletes_on_its_first_day_is_no_best_new_bot(find: Find) -> None:
    ada = User.objects.create(username="ada")
    Bot.objects.filter(name="bot-1").update(kind=Bot.Kind.HOSTED, owner=ada)
    assert find()["newcomer"].bot.name == "bot-1"
    bots.retire(Bot.objects.get(name="bot-1"), timezone.now())
    assert "newcomer" not in find()


def test_the_last_highlights_come_first_each_match_once_and_of_a_bot_alone(find: Find) -> None:
    kinds = find()
    older = Highlight.objects.earliest("pk")
    copy = {"day": older.day - timedelta(days=1), "kind": "upset", "bot_id": older.bot_id}
    Highlight.objects.create(**copy, match_id=older.match_id, number=1)
    recent = feeds.recent_highlights(9)
    matches = [each.match_id for each in recent]
    assert len(matches) == len({*matches}) == len({each.match_id for each in kinds.values()})
    assert {each.day for each in recent} == {older.day}
    assert [each.match_id for each in feeds.recent_highlights(1)] == matches[:1]
    last = Match.objects.exclude(pk__in=[pk or 0 for pk in matches]).latest("pk")
    Highlight.objects.filter(day=older.day).update(game="partridge")
    fields = {"day": older.day, "game": "twelve-days", "bot_id": older.bot_id, "number": 1}
    Highlight.objects.create(**fields, kind="upset", match=last)
    Highlight.objects.create(**fields, kind="streak", match_id=older.match_id)
    in_turn = feeds.last_highlights()  # one game after the other, and no match twice
    assert [each.game for each in in_turn[:2]] == ["twelve-days", "partridge"]
    numbers = [each.match_id for each in in_turn]
    assert len(numbers) == len({*numbers})
    assert feeds.kinds_of(pk or 0 for pk in numbers)[last.pk] == "upset"
    own = feeds.highlights_of(older.bot, 9)
    assert {each.bot_id for each in own} == {older.bot_id}
    assert own[-1].day == older.day - timedelta(days=1)


def test_a_highlight_whose_match_is_void_is_found_anew(find: Find) -> None:
    closest = find()["closest"]
    block = closest.match.block
    Block.objects.filter(pk=block.pk).update(state=Block.State.VOID)
    assert find()["closest"].match.block_id != block.pk
    Block.objects.update(state=Block.State.VOID)
    assert not {"closest", "upset", "streak"} & set(find())


def test_a_highlight_of_an_earlier_day_goes_when_its_match_becomes_void(find: Find) -> None:
    closest = find()["closest"]
    assert closest.pk in {each.pk for each in feeds.last_highlights()}
    assert closest.match.block is not None
    Block.objects.filter(pk=closest.match.block.pk).update(state=Block.State.VOID)
    assert closest.match_id not in {each.match_id for each in feeds.last_highlights()}
    assert closest.match_id not in {each.match_id for each in feeds.highlights_of(closest.bot, 9)}


def test_matches_of_another_day_are_no_highlights(find: Find) -> None:
    Match.objects.update(finished_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert find() == {}


def test_public_results_are_those_whose_record_everybody_may_see() -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    first = Match.objects.earliest("pk")
    play.play_match(first.pk, players=small.players)
    assert set(Match.objects.filter(public_results())) == set()
    bots = list(Bot.objects.all())[:3]
    play.open_unrated_match(
        game="twelve-days",
        rules="eight-nights",
        versions=small.versions(bots),
        move_seconds=1.0,
        bank_seconds=1.0,
    )
    for match in Match.objects.all()[3:]:
        play.play_match(match.pk, players=small.players)
    seen = {match.pk for match in Match.objects.with_deals() if may_see_record(match)}
    assert 0 < len(seen) < Match.objects.count()
    assert set(Match.objects.filter(public_results()).values_list("pk", flat=True)) == seen


def test_finding_highlights_costs_no_query_a_match(
    find: Find, played: Tournament, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    find()
    later = timezone.now() + timedelta(seconds=1)
    assert Ladder.objects.count() == 1
    Match.objects.update(finished_at=later)
    with django_assert_max_num_queries(40):
        feeds.find_highlights(later.astimezone(UTC).date())

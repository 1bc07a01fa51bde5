"""A bot's last rated matches, what its versions gained, and its habits."""

import pytest
from django.core.cache import cache

from engine.playback import play_back
from league import ratings
from league.models import Block, Bot, BotVersion, Match, Standing
from league.ratings import habits, last_matches
from league.ratings.last_matches import (
    RatedMatch,
    best_and_worst,
    last_rated,
    version_spans,
)
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()  # it keeps the habits of other tests' bots with the same ids


def two_rounds(seats: int) -> Standing:
    """Return the standing of a bot that four bots met in two rounds of five blocks in all."""
    ladder = small.ladder(seats=seats)
    bots = [bot.pk for bot in small.bots(4)]
    small.play_round(ladder, bots[:seats], bots[4 - seats :])
    small.play_round(ladder, bots[:seats])
    small.play_round(ladder, [bots[0], *bots[-seats + 1 :]])
    return ladder.standings.select_related("ladder", "bot").get(bot=bots[0])


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_surplus_of_a_bots_matches_is_what_moved_its_rating(seats: int) -> None:
    standing = two_rounds(seats)
    found = last_rated(standing)
    blocks = Block.objects.filter(matches__in=[one.match for one in found]).distinct()
    assert len(found) == seats * blocks.count()
    for entry in standing.bot.round_ledger.all():
        of_round = Match.objects.filter(block__round=entry.round_id).values_list("pk", flat=True)
        surplus = [one.surplus for one in found if one.match in of_round]
        # K is 128 for the first blocks. A block counts the mean of its matches, as many as seats.
        assert (entry.rating_after - entry.rating_before) / 1000 == pytest.approx(
            128 * sum(surplus) / seats, abs=0.01
        )


def test_best_and_worst_are_furthest_from_the_prediction() -> None:
    def match(number: int, share: float, expected: float) -> RatedMatch:
        return RatedMatch(number, 3, 1, False, share, expected)

    matches = [match(5, 1, 0.9), match(4, 0.5, 0.25), match(3, 1, 0.75), match(2, 0, 0.5)]
    assert best_and_worst(matches) == (matches[1], matches[3])  # of equal ones the newest
    assert best_and_worst([]) == (None, None)
    assert best_and_worst(matches[:1]) == (matches[0], None)
    assert best_and_worst([match(1, 0.5, 0.5)]) == (None, None)


def test_a_void_block_is_no_rated_match() -> None:
    standing = two_rounds(3)
    before = last_rated(standing)
    block = Match.objects.get(pk=before[0].match).block
    assert block is not None
    ratings.mark_void(block_id=block.pk, reason="A reason.")
    ratings.correct(standing.ladder_id)
    standing = Standing.objects.select_related("ladder", "bot").get(pk=standing.pk)
    assert {one.match for one in last_rated(standing)} == {
        one.match for one in before if not block.matches.filter(pk=one.match).exists()
    }


def test_a_version_has_the_blocks_and_the_rating_between_its_first_and_last_round() -> None:
    standing = two_rounds(3)
    bot = standing.bot
    first = bot.current_id or 0
    second = BotVersion.objects.create(bot=bot, number=2)
    third = BotVersion.objects.create(bot=bot, number=3)
    Bot.objects.filter(pk=bot.pk).update(current=second)
    between = standing.rating
    others = Bot.objects.exclude(pk=bot.pk).values_list("pk", flat=True)
    small.play_round(standing.ladder, [bot.pk, *others[:2]])
    standing.refresh_from_db()
    spans = version_spans(standing, [first, second.pk, third.pk])
    assert spans[first] == last_matches.VersionSpan(spans[first].blocks, 1_500_000, between)
    assert spans[first].blocks == bot.blocks.filter(version=first).count()
    assert spans[second.pk] == last_matches.VersionSpan(1, between, standing.rating)
    assert spans[second.pk].change == standing.rating - between
    assert third.pk not in spans


def test_habits_are_those_of_the_current_version_beside_all_seats() -> None:
    standing = two_rounds(3)
    found = habits.habits_on(standing)
    assert found is not None
    matches = [one.match for one in last_rated(standing)]
    assert found.matches == len(matches)
    assert found.field_matches == Match.objects.count()
    days = [
        (seat.bot_id == standing.bot_id, event.as_json())
        for match in Match.objects.all()
        for phase in play_back(match.record)
        for event in phase.events
        if event.kind == "card_given"
        for seat in [match.seating.get(seat=event.as_json()["seat"])]
    ]
    own = [event["rank"] <= 2 for is_own, event in days if is_own]
    [rate] = [rate for rate in found.rates if rate.name == "gives-low"]
    assert (rate.did, rate.times, rate.share) == (sum(own), len(own), sum(own) / len(own))
    assert rate.field == sum(event["rank"] <= 2 for _, event in days) / len(days)
    assert rate.text == "gives a low card, up to 2"


def test_a_new_version_has_no_habits_before_its_first_match() -> None:
    standing = two_rounds(2)
    assert habits.habits_on(standing) is not None
    standing.bot.current = BotVersion.objects.create(bot=standing.bot, number=2)
    standing.bot.save()
    assert habits.habits_on(standing) is None


def test_no_more_matches_are_counted_than_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(habits, "MATCHES", 4)
    monkeypatch.setattr(habits, "FIELD_MATCHES", 5)
    found = habits.habits_on(two_rounds(3))
    assert found is not None
    assert (found.matches, found.field_matches) == (4, 5)

"""The seats of matches: columns of the match, read as rows, with the guarantees of foreign keys."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from league import play
from league.models import Bot, Match, MatchSeat
from tests.league import small

pytestmark = pytest.mark.django_db


@pytest.fixture
def bots() -> list[Bot]:
    return small.bots(5)


@pytest.fixture
def match(bots: list[Bot]) -> Match:
    return play.open_unrated_match(
        game="twelve-days", rules="eight-nights", versions=small.versions(bots[:3])
    )


def test_a_match_has_a_row_for_each_seat(match: Match, bots: list[Bot]) -> None:
    assert [(seat.seat, seat.bot, seat.version) for seat in match.seating.all()] == [
        (number, bot, bot.current) for number, bot in enumerate(bots[:3])
    ]


def test_a_seat_has_its_result_when_the_match_is_finished(match: Match) -> None:
    [waiting, *_] = match.seating.all()
    results = (waiting.score, waiting.place, waiting.forfeited, waiting.faults)
    assert results == (None, None, False, 0)
    assert small.play_due() == 1
    record = Match.objects.get(pk=match.pk).record
    found = [(seat.score, seat.place, seat.forfeited, seat.faults) for seat in match.seating.all()]
    expected = zip(record.scores, record.places, strict=True)
    assert found == [(score, place, False, 0) for score, place in expected]


def test_the_matches_of_bots_are_found(match: Match, bots: list[Bot]) -> None:
    first, second, _, other, _ = [bot.pk for bot in bots]
    assert Match.objects.with_bots(first, second).get() == match
    assert not Match.objects.with_bots(first, other).exists()
    assert Match.objects.with_any_bot([other, second]).get() == match
    assert MatchSeat.objects.of_bot(second).get().seat == 1
    assert not MatchSeat.objects.of_bot(other).exists()


def test_the_index_of_bots_finds_the_seats_of_a_bot(match: Match, bots: list[Bot]) -> None:
    with connection.cursor() as cursor:
        # A match is read by its number or by this index, which alone needs a scan of a bitmap.
        # Among a few rows the number can seem cheaper.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
    for bot in (bots[0], bots[4]):
        assert "matches_of_bots" in MatchSeat.objects.of_bot(bot.pk).explain()


def test_a_bot_with_a_seat_cannot_be_deleted(match: Match, bots: list[Bot]) -> None:
    refused = pytest.raises(IntegrityError, match="has a seat")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM league_bot WHERE id = %s", [bots[0].pk])


def test_a_bot_without_a_seat_can_be_deleted(match: Match, bots: list[Bot]) -> None:
    Bot.objects.filter(pk=bots[4].pk).update(current=None)
    bots[4].versions.all().delete()
    assert Bot.objects.get(pk=bots[4].pk).delete()


@pytest.mark.parametrize("column", ["bot_ids", "version_ids"])
def test_a_seat_needs_a_bot_and_a_version_that_exist(match: Match, column: str) -> None:
    values: dict[str, Any] = {column: [2**31 - 1, *getattr(match, column)[1:]]}
    with pytest.raises(IntegrityError, match="no such bot or version"):
        change_at_once(match, values)


def change_at_once(match: Match, values: dict[str, Any]) -> None:
    """Change a match, and check what is otherwise checked at the end of a transaction."""
    with transaction.atomic():
        Match.objects.filter(pk=match.pk).update(**values)
        connection.check_constraints()


def test_no_seat_is_without_a_bot(match: Match) -> None:
    with pytest.raises(IntegrityError, match="each_seat_has_a_bot"), transaction.atomic():
        Match.objects.filter(pk=match.pk).update(bot_ids=match.bot_ids[:2])

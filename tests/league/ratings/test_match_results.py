"""The result of a match: the copy beside its seats is what its record gives."""

from collections.abc import Sequence

import pytest

from engine.games.game import Observation
from engine.referee import Player
from league import competitions, play, ratings
from league.models import Ladder, Match, MatchSeat, PackedResults
from league.ratings.match_results import SeatDifference, match_result, stored_results
from tests import logs
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def ladder() -> Ladder:
    """A ladder of three bots with an open round whose matches wait."""
    ladder = small.ladder()
    small.bots(3)
    tournament = small.tournament(ladder)
    competitions.advance_tournament(tournament.pk)
    return ladder


def refuse(_observation: Observation) -> str:
    return "no such move"


def with_a_refusing_bot(seating: Sequence[MatchSeat]) -> list[Player]:
    """Return players of which the bot with the lowest id makes only illegal moves."""
    lowest = min(seat.bot_id for seat in seating)
    made = zip(seating, small.players(seating), strict=True)
    return [refuse if seat.bot_id == lowest else player for seat, player in made]


def play_all(ladder: Ladder) -> None:
    for match_id in play.claim_due_hosted():
        assert play.play_match(match_id, players=with_a_refusing_bot)


def stored(ladder: Ladder) -> list[object]:
    seats = MatchSeat.objects.filter(match__block__round__ladder=ladder)
    return [one.result for one in stored_results(seats)]


def recorded(ladder: Ladder) -> list[object]:
    matches = Match.objects.filter(block__round__ladder=ladder).order_by("block", "number")
    return [match_result(match) for match in matches]


def test_stored_results_equal_the_records_also_after_forfeits(ladder: Ladder) -> None:
    play_all(ladder)
    assert MatchSeat.objects.filter(forfeited=True, place=3).count() == 3
    assert stored(ladder) == recorded(ladder)
    wrong: list[SeatDifference] = []
    for match in Match.objects.all():
        match_result(match, wrong)
    assert wrong == []


def test_seats_of_unfinished_matches_give_no_stored_result(ladder: Ladder) -> None:
    assert stored(ladder) == []


def test_wrong_copies_are_stored_again_when_their_round_is_applied(ladder: Ladder) -> None:
    play_all(ladder)
    level = {"places": [1, 1, 1], "scores": [0, 0, 0], "forfeited": None, "faults": None}
    Match.objects.update(**level)
    assert stored(ladder) != recorded(ladder)
    [round_id] = ratings.rounds_to_apply()
    with logs.captured() as events:
        assert ratings.apply_round(round_id)
    assert stored(ladder) == recorded(ladder)
    warned = [event for event in events if event["log_level"] == "warning"]
    played = set(Match.objects.values_list("pk", flat=True))
    assert {event["match_id"] for event in warned} == played
    assert ratings.recompute(ladder) == []


def test_applying_a_round_packs_its_results_for_performance(ladder: Ladder) -> None:
    play_all(ladder)
    assert not PackedResults.objects.exists()
    [round_id] = ratings.rounds_to_apply()
    assert ratings.apply_round(round_id)
    assert [pack.round_id for pack in PackedResults.objects.all()] == [round_id]


def test_match_results_of_versions_have_versions_in_their_seats(ladder: Ladder) -> None:
    play_all(ladder)
    match = Match.objects.first()
    assert match is not None
    seats = match.seating.order_by("seat")
    assert match_result(match).seating == tuple(seats.values_list("bot", flat=True))
    of_versions = match_result(match, of_versions=True)
    assert of_versions.seating == tuple(seats.values_list("version", flat=True))
    assert of_versions.places == match_result(match).places

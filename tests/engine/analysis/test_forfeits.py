"""An analysis of a match with a forfeit ends with the final places, not those by points."""

import pytest

from engine.analysis import analyse
from engine.games.game import Observation
from engine.rating.results import forfeited_in, places_of
from engine.record import Record
from engine.referee import play


def with_the_most_points() -> Record:
    """Return a match in which the referee wins with the hand of a seat that forfeited."""

    def broken(_: Observation) -> str:
        raise ValueError

    def first(observation: Observation) -> str:
        move: str = observation["legal_moves"][0]
        return move

    for deal in range(60):
        players = [broken, first, first]
        record = play("partridge", "eagle-short", bytes([deal] * 32), players).record
        if record.places[0] == 1:
            return record
    raise AssertionError


def test_the_seat_that_forfeited_is_last_and_its_own_play_has_the_loss() -> None:
    record = with_the_most_points()
    assert forfeited_in(record) == [0]
    places = places_of(record)
    assert (record.places[0], places[0]) == (1, 3)
    by_points = analyse(record, 8)
    found = by_points.rated(places, [0])
    assert by_points.totals[0].result > found.totals[0].result == 0
    for before, total in zip(by_points.totals, found.totals, strict=True):
        parts = total.deal + total.draws + total.play + total.others
        assert 0.5 + parts == pytest.approx(total.result)
        changed = "play" if total.seat == 0 else "others"
        for name in {"deal", "draws", "play", "others"} - {changed}:
            assert getattr(total, name) == getattr(before, name)
        beaten = [(places[total.seat] < each) + (places[total.seat] == each) / 2 for each in places]
        assert total.result == pytest.approx((sum(beaten) - 0.5) / 2)
    assert found.rated(places, [0]) == found
    parts_of_it = {"luck": found.totals[0].luck, "its own moves": found.totals[0].play}
    words = found.in_words(found.totals[0], parts_of_it)
    assert words.startswith("took third place, mostly because of its own moves")

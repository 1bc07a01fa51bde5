"""Luck with the cards: what it counts, and that its expectation is zero."""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from random import Random

import pytest

from engine.games.twelve_days import TwelveDays
from engine.rating.luck import features, luck
from engine.rating.luck_coefficients import COEFFICIENTS
from engine.record import Record, verify
from engine.referee import play

RULES = [
    ("twelve-days", "calliope", 4),
    ("twelve-days", "eight-nights", 3),
    ("twelve-days", "cheapass-eight-players", 7),
    ("partridge", "eagle-short", 4),
    ("partridge", "mathpickle", 5),
]


def record(game: str, rules: str, seats: int, number: int) -> Record:
    """Return a match of bots that play low cards, so that their discards are not random."""
    rng = Random(number)
    seed = sha256(b"luck test/%d" % number).digest()
    choose = [lambda seen: seen["legal_moves"][rng.random() < 0.2 and -1]] * seats
    return play(game, rules, seed, choose).record


@pytest.mark.parametrize(
    ("rules", "seats"), [("calliope", 4), ("eight-nights", 3), ("cheapass", 5)]
)
def test_features_count_the_cards_that_a_seat_was_dealt_and_drew(rules: str, seats: int) -> None:
    played = record("twelve-days", rules, seats, 1)
    state = verify(played)
    assert isinstance(state, TwelveDays)
    start = played.start()
    ranks = state.rules.days + 1
    shares = [state.rules.deck().count(rank) / len(state.rules.deck()) for rank in range(ranks)]
    for seat, found in enumerate(features(played)):
        dealt, drawn, givers_dealt, givers_drawn = (
            found[at : at + ranks] for at in range(0, 4 * ranks, ranks)
        )
        hand = start.hand(seat)
        assert dealt == pytest.approx(
            [hand.count(rank) - len(hand) * shares[rank] for rank in range(ranks)]
        )
        # Draws differ from whole numbers by expectations that add up to one a draw.
        assert sum(drawn) == pytest.approx(0)
        assert givers_dealt == features(played)[seat - 1][:ranks]
        assert givers_drawn == features(played)[seat - 1][ranks : 2 * ranks]
    if len(state.rules.deck()) >= 2 * seats * state.rules.days:  # drawn from one deck only
        for seat, found in enumerate(features(played)):
            draws = [day.draws[seat] for day in state.history]
            assert found[ranks : 2 * ranks] == pytest.approx(
                [draws.count(rank) - len(draws) * shares[rank] for rank in range(ranks)]
            )


def test_cards_drawn_after_a_new_shuffle_are_compared_with_the_discards() -> None:
    played = record("twelve-days", "calliope", 4, 2)
    state = verify(played)
    assert isinstance(state, TwelveDays)
    deck = state.rules.deck()
    discards = [card for day in state.history[:9] for card in day.plays]
    # 80 cards less 48 dealt last for 8 days of 4 draws; then the plays of 9 days are shuffled.
    expected = [8 * deck.count(r) / 80 + 4 * discards.count(r) / len(discards) for r in range(13)]
    for seat, found in enumerate(features(played)):
        draws = [day.draws[seat] for day in state.history]
        assert found[13:26] == pytest.approx([draws.count(r) - expected[r] for r in range(13)])


def test_features_of_partridge_count_the_cards_of_all_rounds() -> None:
    played = record("partridge", "eagle-short", 4, 3)
    first = played.start()
    for seat, found in enumerate(features(played)):
        assert sum(found) == pytest.approx(0)
        assert len(found) == 13
        # Three rounds of 12 cards: the first hand is among them.
        counts = [round(f + 36 * rank / 78, 6) for rank, f in enumerate(found)]
        assert all(c >= first.hand(seat).count(rank) for rank, c in enumerate(counts))


def z_scores(game: str, rules: str, seats: int, count: int) -> Iterator[float]:
    """Yield the mean of each feature over matches, in standard errors."""
    rows = [row for number in range(count) for row in features(record(game, rules, seats, number))]
    for column in zip(*rows[::seats], strict=True):
        mean = sum(column) / count
        variance = sum((x - mean) ** 2 for x in column) / (count - 1)
        if variance:
            yield mean / (variance / count) ** 0.5


@pytest.mark.parametrize(("game", "rules", "seats"), RULES)
def test_the_expectation_of_each_feature_is_zero(game: str, rules: str, seats: int) -> None:
    # At most 52 features: a normal one is beyond 4 in less than one of 10 000 cases.
    assert max(map(abs, z_scores(game, rules, seats, 40))) < 4


def test_luck_is_the_sum_of_features_with_the_frozen_coefficients() -> None:
    for game, rules, seats in COEFFICIENTS:
        played = record(game, rules, seats, 4)
        found = luck(played)
        assert found is not None
        for own, of_seat in zip(found, features(played), strict=True):
            terms = zip(COEFFICIENTS[game, rules, seats], of_seat, strict=True)
            assert own == pytest.approx(sum(c * f for c, f in terms) / 10_000)


def test_luck_is_not_measured_without_coefficients() -> None:
    assert luck(record("twelve-days", "eight-nights", 3, 5)) is None


def test_a_record_without_its_moves_is_refused() -> None:
    played = record("twelve-days", "calliope", 4, 6)
    with pytest.raises(ValueError, match="has 44 plays, not 48"):
        features(replace(played, moves=played.moves[:-4]))

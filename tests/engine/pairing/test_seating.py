"""Seating an ordered list of bots with owners apart."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pairing import seating
from engine.pairing.seating import owner_group, seat_owners_apart
from engine.pairing.tables import Owners


class SearchingQueue(seating._SeatingQueue):
    """The rule in words: the first bot in order whose group is not at the table, else the first."""

    def take_next(self, table: Sequence[int]) -> int:
        seated = {owner_group(bot, self._owners) for bot in table}
        groups = {at: owner_group(bot, self._owners) for at, bot in self._bots.items()}
        fitting = (at for at in groups if groups[at] not in seated)
        chosen = next(fitting, next(iter(groups)))
        self._positions[groups[chosen]].remove(chosen)
        return self._bots.pop(chosen)


@given(st.randoms(use_true_random=False), st.integers(1, 6), st.integers(2, 4))
def test_seating_follows_the_rule_in_words(rng: Random, count: int, seats: int) -> None:
    sizes = [seats] * count
    bots = list(range(rng.randint(1, sum(sizes))))
    owners: Owners = {bot: rng.choice([None, 1, 2, 3]) for bot in bots}
    order = [rng.choice(bots) for _ in range(sum(sizes))]
    tables = seat_owners_apart(order, sizes, owners)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seating, "_SeatingQueue", SearchingQueue)
        assert seat_owners_apart(order, sizes, owners) == tables


def test_the_work_grows_with_the_bots_if_one_owner_has_the_first_third(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All bots of one owner come first; a search for the others would pass them again and again.
    calls = 0

    def counted(bot: int, owners: Owners) -> seating.OwnerGroup:
        nonlocal calls
        calls += 1
        return owner_group(bot, owners)

    monkeypatch.setattr(seating, "owner_group", counted)
    count = 3000
    owners: Owners = {bot: 0 if bot < count // 3 else bot for bot in range(count)}
    tables = seat_owners_apart(range(count), [3] * (count // 3), owners)
    assert sorted(bot for table in tables for bot in table) == list(range(count))
    assert all(len({owners[bot] for bot in table}) == 3 for table in tables)
    assert calls < 10 * count

"""Fields of entrants for the properties: any number, several bots an owner, some of the house."""

from collections import Counter
from collections.abc import Mapping

from hypothesis import strategies as st

Owners = Mapping[int, int | None]

SEED = bytes(range(32))

seeds = st.binary(min_size=32, max_size=32)
seats = st.integers(2, 8)


@st.composite
def fields(draw: st.DrawFn, max_bots: int = 40) -> dict[int, int | None]:
    """Draw owners by bot: ids with gaps, one owner each, few owners, or something between."""
    bots = draw(st.lists(st.integers(0, 10 * max_bots), unique=True, max_size=max_bots))
    owners = draw(st.sampled_from([1, 3, 8, 1000]))
    return {bot: draw(st.none() | st.integers(1, owners)) for bot in bots}


def max_of_one_owner(owners: Owners) -> int:
    """Return how many bots the owner with the most has, and 1 where there are house bots."""
    counts = Counter(owner for owner in owners.values() if owner is not None)
    return max(counts.values(), default=1)


def apart(bots: tuple[int, ...], owners: Owners) -> bool:
    """Return whether no two of these bots have one owner."""
    named = [owners[bot] for bot in bots if owners[bot] is not None]
    return len(named) == len(set(named))

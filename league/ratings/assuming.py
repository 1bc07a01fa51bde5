"""Ratings under an assumption: a fold with some blocks void or counting again, without storing.

`elo.apply_round` computes it, as for every round. The results come from the copies beside the
seats, which equal the records (`league.ratings.match_results`) and are read fifty times as fast.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.rating import elo
from engine.rating.results import MatchResult
from league.models import Block, BlockBot, Ladder, MatchSeat, Round, VoidMark
from league.models.standings import SHOWN
from league.ratings.match_results import k_schedule, stored_results

_CHUNK = 200
"""Rounds read at a time."""


class Place(NamedTuple):
    """A bot's rating and rank; the rank is None for a provisional or hidden bot."""

    rating: int
    rank: int | None


class Change(NamedTuple):
    """A bot's place now and under the assumption; None where it has no rating."""

    bot: int
    now: Place | None
    then: Place | None


@dataclass(slots=True)
class _State:
    """The state of the fold: ratings by bot, and rated blocks by bot and version."""

    ratings: Mapping[int, elo.RatingState] = field(default_factory=dict)
    blocks: Counter[tuple[int, int]] = field(default_factory=Counter)


def changes(
    ladder: Ladder, *, void: Collection[int] = (), restored: Collection[int] = ()
) -> list[Change]:
    """Return the bots of a ladder whose rating or rank would change, by present rank.

    Args:
        ladder: of the ratings.
        void: ids of blocks to treat as void, beyond the void ones.
        restored: ids of void blocks to treat as finished.
    """
    # Leave out a round that is applied meanwhile: the decision does not cause its changes.
    up_to = ladder.rounds.last_applied()
    # Decisions that the ratings don't follow yet count already, as they do for the tournament.
    marks = VoidMark.objects.pending().filter(block__round__ladder=ladder)
    waiting = dict(marks.values_list("block", "takes_back"))
    counting = {block for block, takes_back in waiting.items() if takes_back}
    out = waiting.keys() - counting
    now = _places(ladder, _fold(ladder, up_to, out, counting))
    out, counting = (out | set(void)) - set(restored), (counting | set(restored)) - set(void)
    then = _places(ladder, _fold(ladder, up_to, out, counting))
    found = [
        Change(bot, now.get(bot), then.get(bot))
        for bot in now.keys() | then.keys()
        if now.get(bot) != then.get(bot)
    ]
    return sorted(found, key=lambda each: (-(each.now or Place(0, None)).rating, each.bot))


def _places(ladder: Ladder, state: _State) -> dict[int, Place]:
    rows = ladder.standings.values_list("bot", "hidden", "fitted_version")
    known = {bot: (hidden, fitted) for bot, hidden, fitted in rows}

    def has_rank(bot: int, of: elo.RatingState) -> bool:
        hidden, fitted = known.get(bot, (SHOWN, None))
        # A fit counts the blocks of the version that plays, as `StandingNumbers.blocks_for_rank`.
        blocks = of.blocks if fitted is None else state.blocks[bot, fitted]
        return hidden == SHOWN and blocks >= ladder.ranked_from

    ranked = sorted(of.rating for bot, of in state.ratings.items() if has_rank(bot, of))
    return {
        bot: Place(
            of.rating,
            1 + len(ranked) - bisect_right(ranked, of.rating) if has_rank(bot, of) else None,
        )
        for bot, of in state.ratings.items()
    }


def _fold(ladder: Ladder, up_to: int, void: Collection[int], restored: Collection[int]) -> _State:
    state = _State()
    for round_ in _rounds(ladder, up_to, frozenset(void), frozenset(restored)):
        state.ratings = elo.apply_round(state.ratings, round_).states
        for block in round_.blocks:
            if block.rated and not block.void:
                state.blocks.update(block.versions.items())
    return state


def _rounds(
    ladder: Ladder, up_to: int, void: frozenset[int], restored: frozenset[int]
) -> Iterator[elo.Round]:
    """Yield the rounds up to an applied number in the order of their application."""
    applied = ladder.rounds.filter(applied_number__lte=up_to).order_by("applied_number")
    every = list(applied.only("pk", "k_schedule"))
    for at in range(0, len(every), _CHUNK):
        chunk = every[at : at + _CHUNK]
        blocks = _blocks(chunk, void, restored)
        for round_ in chunk:
            yield elo.Round(blocks[round_.pk], k_schedule(round_.k_schedule))


def _blocks(
    rounds: Collection[Round], void: frozenset[int], restored: frozenset[int]
) -> dict[int, list[elo.Block]]:
    """Return the blocks of rounds by round, with the same number of queries for any rounds."""
    versions: dict[int, dict[int, int]] = defaultdict(dict)
    seats = BlockBot.objects.filter(block__round__in=rounds).order_by()
    for block, bot, version in seats.values_list("block", "bot", "version__number"):
        versions[block][bot] = version
    results: dict[int, list[MatchResult]] = defaultdict(list)
    of_rounds = MatchSeat.objects.filter(match__block__round__in=rounds)
    for _, block, result in stored_results(of_rounds):
        results[block].append(result)
    found: dict[int, list[elo.Block]] = defaultdict(list)
    for row in Block.objects.filter(round__in=rounds).order_by("number"):
        is_void = row.pk in void or (row.state == Block.State.VOID and row.pk not in restored)
        found[row.round_id].append(
            elo.Block(
                number=row.number,
                versions=versions[row.pk],
                results=[] if is_void else results[row.pk],
                rated=row.rated,
                void=is_void,
            )
        )
    return found

"""The local search of a Swiss round: first against repeated pairs, then for like scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb, lcm
from random import Random

from engine.pairing.seating import OwnerGroup, owner_group
from engine.pairing.tables import Owners

_REPEAT_SWAPS_PER_SCORE_SWAP = 6
"""Swaps examined against repeated pairs, for each swap tried for like scores.

They cost much less. More than 6 hardly ever find a round without repeats where 6 do not."""

_TABU_STEPS = 5
"""Steps for which a bot may not return to a table that it left; a random number up to twice it."""

_Value = tuple[int, int, float]
"""The value of a swap: the change of the repeat cost, the gap of both scores, a random number."""


class SwissSearch:
    """Tables that swaps of two bots improve in place.

    Avoiding a repeated pair always comes before any gap of scores. No swap brings two bots of one
    owner group to one table. If two sit together from the start, that was unavoidable.
    """

    def __init__(
        self,
        tables: Sequence[list[int]],
        scores: Mapping[int, Fraction],
        owners: Owners,
        met: Mapping[tuple[int, int], int],
    ) -> None:
        """Start from these tables.

        Args:
            tables: bot ids by table; `improve` changes them.
            scores: the scores of all bots at the tables.
            owners: the owners of all bots at the tables.
            met: by pair, how often the two bots have sat together; other bots are ignored.
        """
        self._tables = tables
        # Integers: the search adds scores up to a million times.
        unit = lcm(*(score.denominator for score in scores.values()))
        self._score = {bot: int(score * unit) for bot, score in scores.items()}
        self._group: dict[int, OwnerGroup] = {bot: owner_group(bot, owners) for bot in scores}
        self._met: dict[int, dict[int, int]] = {bot: {} for bot in scores}
        for (a, b), times in met.items():
            if a in scores and b in scores and times:
                self._met[a][b] = self._met[b][a] = times**2
        # One more than the highest possible sum of all gaps in a round.
        widest = max(self._score.values(), default=0) - min(self._score.values(), default=0)
        self._repeat_cost = 1 + widest * sum(comb(len(table), 2) for table in tables)

    def improve(self, rng: Random, max_swaps: int) -> None:
        """Separate repeated pairs, then bring like scores together.

        Args:
            rng: decides all random choices.
            max_swaps: the number of swaps to try for like scores; the search first examines
                `_REPEAT_SWAPS_PER_SCORE_SWAP` times as many against repeated pairs.
        """
        if len(self._tables) < 2:
            return
        self._separate_repeats(rng, _REPEAT_SWAPS_PER_SCORE_SWAP * max_swaps)
        for _ in range(max_swaps):
            a = self._tables[int(rng.random() * len(self._tables))]
            b = self._tables[int(rng.random() * len(self._tables))]
            i, j = int(rng.random() * len(a)), int(rng.random() * len(b))
            if a is not b:
                self._swap_unless_worse(a, i, b, j)

    # -- Repeated pairs ----------------------------------------------------------------------

    def _separate_repeats(self, rng: Random, swaps: int) -> None:
        """Let bots of repeated pairs exchange seats with the bots for which that helps most.

        The method is tabu search (F. Glover, "Tabu search, part I", 1989). Each step makes the best
        swap of a random bot that sits with an earlier opponent, even if it raises the cost. The
        search may undo the swap only after some steps, so it leaves local minima. It keeps the best
        tables that it has found.
        """
        tables = self._tables
        self._at = {bot: number for number, table in enumerate(tables) for bot in table}
        self._repeats = {bot: self._repeats_by_table(bot) for bot in self._at}
        self._tabu_until: dict[tuple[int, int], int] = {}
        cost = sum(repeats[self._at[bot]] for bot, repeats in self._repeats.items()) // 2
        best, kept = cost, [table[:] for table in tables]
        for step in range(swaps // len(self._at)):
            repeating = [bot for bot, repeats in self._repeats.items() if repeats[self._at[bot]]]
            if not repeating:
                break
            bot = repeating[int(rng.random() * len(repeating))]
            found = self._best_partner(bot, step, best - cost, rng)
            if found is None:
                continue
            change, other = found
            cost += change
            for one in (bot, other):
                until = step + _TABU_STEPS + int(rng.random() * _TABU_STEPS)
                self._tabu_until[one, self._at[one]] = until
            self._exchange(bot, other)
            if cost < best:
                best, kept = cost, [table[:] for table in tables]
        for table, before in zip(tables, kept, strict=True):
            table[:] = before

    def _repeats_by_table(self, bot: int) -> Counter[int]:
        """Return by table the repeat cost of a bot's earlier meetings with the bots there."""
        repeats: Counter[int] = Counter()
        for other, squared in self._met[bot].items():
            repeats[self._at[other]] += squared
        return repeats

    def _best_partner(
        self, bot: int, step: int, aspired: int, rng: Random
    ) -> tuple[int, int] | None:
        """Return the change of cost by the best swap of a bot, and its partner in that swap.

        Args:
            bot: a bot of a repeated pair.
            step: the number of this step of the search.
            aspired: a tabu swap is allowed if it changes the cost by less than this.
            rng: decides between equal swaps.

        Returns:
            None if no swap is allowed.
        """
        at, repeats, tabu_until = self._at, self._repeats, self._tabu_until
        here, met, own_repeats, score = at[bot], self._met[bot], repeats[bot], self._score
        best: _Value | None = None
        partner = bot
        for other, there in at.items():
            if there == here:
                continue
            others = repeats[other]
            change = own_repeats[there] - own_repeats[here] + others[here] - others[there]
            change -= 2 * met.get(other, 0)
            if best is not None and change > best[0]:
                continue
            until = max(tabu_until.get((bot, there), -1), tabu_until.get((other, here), -1))
            if until >= step and change >= aspired:
                continue
            value = (change, abs(score[bot] - score[other]), rng.random())
            if (best is None or value < best) and self._may_swap(bot, other):
                best, partner = value, other
        return None if best is None else (best[0], partner)

    def _may_swap(self, bot: int, other: int) -> bool:
        """Return whether two bots may exchange seats without joining their own groups."""
        group, here, there = self._group, self._tables[self._at[bot]], self._tables[self._at[other]]
        for table, leaves, own in ((there, other, group[bot]), (here, bot, group[other])):
            for one in table:
                if one != leaves and group[one] == own:
                    return False
        return True

    def _exchange(self, bot: int, other: int) -> None:
        """Exchange the seats of two bots, and update the repeat costs of their opponents."""
        here, there = self._at[bot], self._at[other]
        for one, left, entered in ((bot, here, there), (other, there, here)):
            self._at[one] = entered
            for opponent, squared in self._met[one].items():
                self._repeats[opponent][left] -= squared
                self._repeats[opponent][entered] += squared
        a, b = self._tables[here], self._tables[there]
        a[a.index(bot)], b[b.index(other)] = other, bot

    # -- Like scores -------------------------------------------------------------------------

    def _swap_unless_worse(self, a: list[int], i: int, b: list[int], j: int) -> None:
        """Exchange seat i of table a with seat j of table b unless that raises the cost.

        The cost is that of repeated pairs and of gaps between scores. Nearly all time of a draw is
        spent here, so all is added up in two plain loops.
        """
        x, y = a[i], b[j]
        group, scores = self._group, self._score
        group_x, group_y, score_x, score_y = group[x], group[y], scores[x], scores[y]
        met_x, met_y = self._met[x], self._met[y]
        repeats = gaps = 0  # by how much the swap raises both
        for other in b:
            if other != y:
                if group[other] == group_x:
                    return
                score = scores[other]
                gaps += abs(score_x - score) - abs(score_y - score)
                repeats += met_x.get(other, 0) - met_y.get(other, 0)
        for other in a:
            if other != x:
                if group[other] == group_y:
                    return
                score = scores[other]
                gaps += abs(score_y - score) - abs(score_x - score)
                repeats += met_y.get(other, 0) - met_x.get(other, 0)
        if repeats * self._repeat_cost + gaps <= 0:
            a[i], b[j] = y, x

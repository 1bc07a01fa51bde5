"""The local search of a swiss round: nobody who has met together, then like scores together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb, lcm
from random import Random

from engine.pairing.seating import Party, party
from engine.pairing.tables import Owners

_PARTING = 6
"""How many swaps are looked at to part those who have met, for one tried to bring scores together.

They cost much less; a longer search finds a round without repeats hardly anywhere that 6 do not."""

_BARRED = 5
"""Steps for which a bot may not come back to a table that it has left, and up to twice as many."""

_Value = tuple[int, int, float]
"""Of a swap: the change of what meetings cost, the gap of the two scores, a lot."""


class Search:
    """Tables to be improved in place: bots of two of them change seats.

    No gap of scores is worth a pair that meets again. Two who are of one party come to sit together
    by no swap; where they do from the start, that was unavoidable.
    """

    def __init__(
        self,
        tables: Sequence[list[int]],
        scores: Mapping[int, Fraction],
        owners: Owners,
        met: Mapping[tuple[int, int], int],
    ) -> None:
        """Take the tables as they are to start from.

        Args:
            tables: to be changed.
            scores: of all bots at them.
            owners: of the same.
            met: how often each pair sat at a table, of others too.
        """
        self._tables = tables
        # Whole numbers, for they are added up a million times.
        unit = lcm(*(score.denominator for score in scores.values()))
        self._score = {bot: int(score * unit) for bot, score in scores.items()}
        self._party: dict[int, Party] = {bot: party(bot, owners) for bot in scores}
        self._met: dict[int, dict[int, int]] = {bot: {} for bot in scores}
        for (a, b), times in met.items():
            if a in scores and b in scores and times:
                self._met[a][b] = self._met[b][a] = times**2
        # One more than all gaps of a round can come to.
        widest = max(self._score.values(), default=0) - min(self._score.values(), default=0)
        self._meeting = 1 + widest * sum(comb(len(table), 2) for table in tables)

    def improve(self, rng: Random, swaps: int) -> None:
        """Part those who have met, then bring like scores together.

        Args:
            rng: settles all that is left to chance.
            swaps: to try for like scores; `_PARTING` times as many are looked at before.
        """
        if len(self._tables) < 2:
            return
        self._part(rng, _PARTING * swaps)
        for _ in range(swaps):
            a = self._tables[int(rng.random() * len(self._tables))]
            b = self._tables[int(rng.random() * len(self._tables))]
            i, j = int(rng.random() * len(a)), int(rng.random() * len(b))
            if a is not b:
                self._swap_unless_worse(a, i, b, j)

    # -- Those who have met ------------------------------------------------------------------

    def _part(self, rng: Random, swaps: int) -> None:
        """Let those who sit with somebody they have met change seats with whom that helps most.

        A tabu search (F. Glover 1989): the best swap of one such bot is made even if it makes
        things worse, and undone only after a while, which leads out of where each single swap does.
        The best tables on the way are kept.
        """
        tables = self._tables
        self._at = {bot: number for number, table in enumerate(tables) for bot in table}
        self._repeats = {bot: self._repeats_by_table(bot) for bot in self._at}
        self._barred: dict[tuple[int, int], int] = {}
        cost = sum(repeats[self._at[bot]] for bot, repeats in self._repeats.items()) // 2
        best, kept = cost, [table[:] for table in tables]
        for step in range(swaps // len(self._at)):
            again = [bot for bot, repeats in self._repeats.items() if repeats[self._at[bot]]]
            if not again:
                break
            bot = again[int(rng.random() * len(again))]
            found = self._best_partner(bot, step, best - cost, rng)
            if found is None:
                continue
            change, other = found
            cost += change
            for one in (bot, other):
                until = step + _BARRED + int(rng.random() * _BARRED)
                self._barred[one, self._at[one]] = until
            self._exchange(bot, other)
            if cost < best:
                best, kept = cost, [table[:] for table in tables]
        for table, before in zip(tables, kept, strict=True):
            table[:] = before

    def _repeats_by_table(self, bot: int) -> Counter[int]:
        """Return by table what it costs that a bot has met those who sit there."""
        repeats: Counter[int] = Counter()
        for other, squared in self._met[bot].items():
            repeats[self._at[other]] += squared
        return repeats

    def _best_partner(
        self, bot: int, step: int, wanted: int, rng: Random
    ) -> tuple[int, int] | None:
        """Return what the best swap of a bot changes, and with whom; None if none is allowed.

        Args:
            bot: at a table with somebody whom it has met.
            step: of the search.
            wanted: a swap that changes less than this (is below it) may be made though barred.
            rng: for lots.
        """
        at, repeats, barred = self._at, self._repeats, self._barred
        here, met, mine, score = at[bot], self._met[bot], repeats[bot], self._score
        best: _Value | None = None
        partner = bot
        for other, there in at.items():
            if there == here:
                continue
            theirs = repeats[other]
            change = mine[there] - mine[here] + theirs[here] - theirs[there]
            change -= 2 * met.get(other, 0)
            if best is not None and change > best[0]:
                continue
            is_barred = max(barred.get((bot, there), -1), barred.get((other, here), -1)) >= step
            if is_barred and change >= wanted:
                continue
            value = (change, abs(score[bot] - score[other]), rng.random())
            if (best is None or value < best) and self._may_swap(bot, other):
                best, partner = value, other
        return None if best is None else (best[0], partner)

    def _may_swap(self, bot: int, other: int) -> bool:
        """Return whether two bots may change seats without coming to sit with their own party."""
        beside = [one for one in self._tables[self._at[bot]] if one != bot]
        beside_other = [one for one in self._tables[self._at[other]] if one != other]
        return not (self._is_beside_own(bot, beside_other) or self._is_beside_own(other, beside))

    def _exchange(self, bot: int, other: int) -> None:
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
        x, y = a[i], b[j]
        beside_x, beside_y = a[:i] + a[i + 1 :], b[:j] + b[j + 1 :]
        if self._is_beside_own(x, beside_y) or self._is_beside_own(y, beside_x):
            return
        before = self._cost(x, beside_x) + self._cost(y, beside_y)
        if self._cost(x, beside_y) + self._cost(y, beside_x) <= before:
            a[i], b[j] = y, x

    def _is_beside_own(self, bot: int, others: Sequence[int]) -> bool:
        """Return whether one of the others is of the bot's own party."""
        own = self._party[bot]
        return any(self._party[other] == own for other in others)

    def _cost(self, bot: int, others: Sequence[int]) -> int:
        met, score, of = self._met[bot], self._score[bot], self._score
        again = sum(met.get(other, 0) for other in others)
        return again * self._meeting + sum(abs(score - of[other]) for other in others)

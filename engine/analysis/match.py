"""The analysis of a whole match, in one go or in portions.

Between two phases the expected results change for two reasons: moves, and cards that come then. The
value before the cards, with the moves made, separates both. All changes together lead from 0.5 to
the result, so the parts add up by construction.
"""

from collections.abc import Callable
from dataclasses import asdict
from math import sqrt
from statistics import fmean, variance
from typing import Any, NamedTuple, Self

from engine.analysis.decisions import judge
from engine.analysis.positions import GROUPS, Values, before_cards, before_moves
from engine.analysis.results import Analysis, Chance, Decision, Total, mark
from engine.deals import derive
from engine.games.game import State
from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from engine.playouts import rule_of_thumb
from engine.playouts.policies import PolicyTable, Uniform
from engine.record import Record

VERSION = 2
"""Number of the method; increase it with each change that changes results."""
DEFAULT_PLAYOUTS = 240
MAX_PLAYOUTS = 100_000
_LEAST_PLAYOUTS = GROUPS
_LAST_DAY = 8
"""On the last day playouts are short, so there are this many times as many."""
_LEAST_EXPLAINED = 0.25
"""A decision explains a change of a chance if it makes at least this part of it alone."""
_DIGITS = 4
_PARTS = ("deal", "draws", "play", "others")


class Work:
    """An analysis in progress.

    Attributes:
        ply: the number of moves that are analysed.
    """

    def __init__(self, record: Record, playouts: int = DEFAULT_PLAYOUTS) -> None:
        """Begin to analyse a record that `engine.record.verify` accepts.

        Raises:
            ValueError: the number of playouts is out of range.
        """
        if not _LEAST_PLAYOUTS <= playouts <= MAX_PLAYOUTS:
            raise ValueError(f"playouts are {_LEAST_PLAYOUTS} to {MAX_PLAYOUTS}, not {playouts}")
        self.record = record
        self.playouts = playouts
        self.ply = 0
        self._state = record.start()
        policy = rule_of_thumb(record.game, record.rules)
        assert not isinstance(policy, Uniform)
        self._policy: PolicyTable = policy
        self._faults = {fault.ply: fault.kind for fault in record.faults}
        self._chances: list[Chance] = []
        self._decisions: list[Decision] = []
        self._value: Values = []
        zeros = [[0.0] * record.seats for _ in range(GROUPS)]
        self._parts = {part: [row[:] for row in zeros] for part in _PARTS}

    @property
    def is_done(self) -> bool:
        """Whether the whole match is analysed."""
        return self._state.is_over and bool(self._chances)

    def advance(self, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Analyse phase after phase, at least one.

        Args:
            goes_on: returns whether to analyse one more phase.
        """
        if not self._chances:
            self._begin()
        while not self.is_done:
            self._phase()
            if not goes_on():
                return

    def result(self) -> Analysis:
        """Return the whole analysis.

        Raises:
            ValueError: a part of the match is not analysed yet.
        """
        if not self.is_done:
            raise ValueError(f"only {self.ply} of {len(self.record.moves)} moves are analysed")
        totals = tuple(self._total(seat) for seat in range(self.record.seats))
        return Analysis(
            VERSION, self.playouts, tuple(self._chances), tuple(self._decisions), totals
        )

    # -- Stored between portions ----------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        """Return what `resume` needs, as JSON data."""
        return {
            "version": VERSION,
            "playouts": self.playouts,
            "ply": self.ply,
            "value": self._value,
            "parts": self._parts,
            "chances": [asdict(chance) for chance in self._chances],
            "decisions": [asdict(decision) for decision in self._decisions],
        }

    @classmethod
    def resume(cls, record: Record, data: dict[str, Any]) -> Self:
        """Return the work that `as_json` wrote.

        Raises:
            ValueError: another version of the method wrote it.
        """
        if data["version"] != VERSION:
            raise ValueError(f"version {data['version']} of the analysis, not {VERSION}")
        work = cls(record, data["playouts"])
        for seat, text in record.moves[: data["ply"]]:
            work._state.step_unchecked({seat: work._state.moves.ids[text]})
        work.ply = data["ply"]
        work._value, work._parts = data["value"], data["parts"]
        work._chances = list(map(Chance.from_json, data["chances"]))
        work._decisions = [Decision(**each) for each in data["decisions"]]
        return work

    # -- One phase ------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._value = self._value_of(self._state)
        even = [[0.5] * self.record.seats] * GROUPS
        self._add("deal", range(self.record.seats), even, self._value)
        self._chances.append(Chance(0, self._firsts(self._value)))

    def _phase(self) -> None:
        state, seats = self._state, range(self.record.seats)
        actors = state.actors
        moves = self.record.moves[self.ply : self.ply + len(actors)]
        actions = {seat: state.moves.ids[text] for seat, text in moves}
        free = [seat for seat in actors if len(state.legal(seat)) > 1]
        for at, (seat, text) in enumerate(moves):
            if seat in free:
                self._decisions.append(self._decide(state, seat, text, self.ply + at))
        before, after = self._value, state.copy()
        after.step_unchecked(actions)
        with_moves = before
        if has_cards := _brings_cards(state, after):
            if free:
                with_moves = before_cards(
                    state, actions, self._policy, self.playouts, self._seed("chances")
                )
            value = self._value_of(after)
        elif free or after.is_over:
            value = with_moves = self._value_of(after)
        else:
            value = before
        alone = self._share_moves(actions, free, before, with_moves)
        self._add("draws", seats, with_moves, value)
        self._state, self._value = after, value
        self.ply += len(actors)
        self._chances.append(
            Chance(
                self.ply,
                self._firsts(value),
                self._firsts(with_moves) if has_cards else None,
                self._decider(before, with_moves, alone),
            )
        )

    def _share_moves(
        self, actions: dict[int, int], free: list[int], before: Values, after: Values
    ) -> dict[int, Values]:
        """Add each seat's own part of a change to its play, and the rest to other seats.

        Return the values after the decision of each seat alone.
        """
        seats, values = range(self.record.seats), {}
        self._add("others", seats, before, after)
        for seat in free:
            alone = after
            if len(free) > 1:
                chosen = self._state.copy()
                chosen.step_unchecked({seat: actions[seat]})
                alone = self._value_of(chosen)
            self._add("play", [seat], before, alone)
            self._add("others", [seat], alone, before)
            values[seat] = alone
        return values

    def _decider(self, before: Values, after: Values, alone: dict[int, Values]) -> int | None:
        """Return the seat whose decision best explains the largest change of a chance."""
        old, new = self._firsts(before), self._firsts(after)
        most = max(range(len(old)), key=lambda seat: abs(new[seat] - old[seat]))
        change = new[most] - old[most]
        if not change or not alone:
            return None
        explained = {
            seat: (self._firsts(values)[most] - old[most]) / change
            for seat, values in alone.items()
        }
        found = max(explained, key=explained.__getitem__)
        return found if explained[found] >= _LEAST_EXPLAINED else None

    def _decide(self, state: State, seat: int, move: str, ply: int) -> Decision:
        playouts = self.playouts
        if isinstance(state, TwelveDays) and state.day == state.rules.days:
            playouts *= _LAST_DAY
        seed = self._seed(f"decision/{ply}")
        found = judge(state.observe(seat), move, self._policy, playouts, seed)
        loss, error = round(found.loss, _DIGITS), round(found.error, _DIGITS)
        return Decision(
            ply=ply,
            seat=seat,
            phase=state.phase,
            move=move,
            best=found.best if loss > 0 else move,
            loss=max(0.0, loss),
            error=error,
            mark=mark(loss, found.error),
            is_exact=found.is_exact,
            fault=self._faults.get(ply),
            results={text: round(value, _DIGITS) for text, value in found.results.items()},
        )

    # -- Values ---------------------------------------------------------------------------------

    def _value_of(self, state: State) -> Values:
        # One seed for the whole match: the same luck makes differences between values smaller.
        return before_moves(state, self._policy, self.playouts, self._seed("chances"))

    def _seed(self, purpose: str) -> int:
        return int.from_bytes(derive(self.record.deal_seed, f"analysis/{purpose}")[:8], "big")

    def _add(self, part: str, seats: "range | list[int]", before: Values, after: Values) -> None:
        for sums, old, new in zip(self._parts[part], before, after, strict=True):
            for seat in seats:
                sums[seat] += new[seat] - old[seat]

    def _firsts(self, values: Values) -> tuple[float, ...]:
        """Return the mean chance of the first place of each seat."""
        columns = zip(*(row[self.record.seats :] for row in values), strict=True)
        return tuple([round(fmean(column), _DIGITS) for column in columns])

    def _total(self, seat: int) -> Total:
        parts = {part: _spread([row[seat] for row in rows]) for part, rows in self._parts.items()}
        luck = [
            deal[seat] + draws[seat]
            for deal, draws in zip(self._parts["deal"], self._parts["draws"], strict=True)
        ]
        result = self._value[0][seat]
        deal, draws, play = (parts[name].mean for name in ("deal", "draws", "play"))
        return Total(
            seat=seat,
            deal=deal,
            draws=draws,
            play=play,
            others=parts["others"].mean,
            result=result,
            luck_error=round(_spread(luck).error, _DIGITS),
            play_error=round(parts["play"].error, _DIGITS),
            loss=round(sum(each.loss for each in self._decisions if each.seat == seat), _DIGITS),
        )


class _Spread(NamedTuple):
    mean: float
    error: float


def _spread(groups: list[float]) -> _Spread:
    return _Spread(fmean(groups), sqrt(variance(groups) / len(groups)))


def _brings_cards(before: State, after: State) -> bool:
    """Return whether cards came by chance in a phase."""
    if isinstance(before, TwelveDays) and isinstance(after, TwelveDays):
        return after.past is not before.past
    assert isinstance(before, Partridge)
    assert isinstance(after, Partridge)
    return after.round > before.round


def analyse(
    record: Record,
    playouts: int = DEFAULT_PLAYOUTS,
    progress: Callable[[int, int], None] | None = None,
) -> Analysis:
    """Analyse a match.

    Args:
        record: one that `engine.record.verify` accepts.
        playouts: of each comparison and of each chance.
        progress: receives the number of analysed moves and of all moves, after each phase.

    Raises:
        ValueError: the number of playouts is out of range.
    """
    work = Work(record, playouts)

    def goes_on() -> bool:
        if progress is not None:
            progress(work.ply, len(record.moves))
        return True

    work.advance(goes_on)
    return work.result()

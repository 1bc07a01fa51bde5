"""The history of a tournament: its stored rows as values for the pairing code in `engine`.

A void block that was played again counts by its replacement. Rounds that a decision superseded do
not count. `Assumed` changes what counts without storing anything, for previews of decisions. A void
mark counts at once, also while the correction of the ratings waits: else a round could be drawn by
a result that an organiser made void.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from engine.blocks import assign_labels, derive_block_seed
from engine.errors import UnknownRulesError
from engine.games import catalogue
from engine.pairing import Entrant, EventSettings, Format, PlayedBlock, PlayedRound
from engine.rating.results import MatchResult
from league.bots import Obstacle, obstacles
from league.competitions.rounds import Before
from league.models import (
    Block,
    BlockBot,
    Bot,
    Bye,
    Ladder,
    MatchSeat,
    QualifyingMatch,
    Round,
    Tournament,
    TournamentEntry,
    VoidMark,
)
from league.models.moderation import in_quarantine
from league.ratings.match_results import stored_results


class Assumed(NamedTuple):
    """A decision that is not stored, for a preview.

    Attributes:
        void: ids of finished blocks to treat as void.
        finished: ids of void blocks to treat as finished; all their matches are.
        superseded: ids of rounds to leave out.
        counting: ids of superseded rounds to take in.
        disqualified: ids of bots to treat as disqualified.
        reinstated: ids of disqualified bots to treat as entered.
    """

    void: frozenset[int] = frozenset()
    finished: frozenset[int] = frozenset()
    superseded: frozenset[int] = frozenset()
    counting: frozenset[int] = frozenset()
    disqualified: frozenset[int] = frozenset()
    reinstated: frozenset[int] = frozenset()


AS_STORED = Assumed()


@dataclass(frozen=True)
class History:
    """A tournament up to now.

    Attributes:
        tournament: with its ladder.
        entries: by bot id, with bot and owner.
        bots: by id, all entered bots and fill-ins.
        event_settings: for the pairing code.
        entrants: the entries, for the pairing code.
        opened: the rounds in order, without those that are superseded or replay a block.
        rounds: the same rounds, for the pairing code.
        set_aside: the other rounds in order: superseded ones, and replays of a block.
        played: what each table has played, by its bots, ascending; empty for tables of even size.
        next_block: the number for the next block, so that no two blocks of one seed share it.
    """

    tournament: Tournament
    entries: dict[int, TournamentEntry]
    bots: dict[int, Bot]
    event_settings: EventSettings
    entrants: list[Entrant]
    opened: list[Round]
    rounds: list[PlayedRound]
    set_aside: list[Round]
    played: dict[tuple[int, ...], Before]
    next_block: int

    @property
    def is_over(self) -> bool:
        """Whether the tournament is finished."""
        return self.tournament.state == Tournament.State.FINISHED


def history_of(tournament: Tournament, assumed: Assumed = AS_STORED) -> History:
    """Return the history of a tournament; the number of queries is always the same."""
    held = in_quarantine(timezone.now(), bot="bot", owner="bot__owner")
    checks = QualifyingMatch.objects.filter(version=OuterRef("bot__current")).order_by()
    passed = checks.filter(game=tournament.ladder.game, passed=True)
    found = tournament.entries.select_related("bot__owner").annotate(
        held=held,
        # It got this version while the tournament was cancelled, or while it was disqualified.
        fails=Exists(checks) & ~Exists(passed),
    )
    rows = list(found.order_by("bot"))
    entries: dict[int, TournamentEntry] = {entry.bot_id: entry for entry in rows}
    every = list(tournament.rounds.order_by("number"))
    opened = [round_ for round_ in every if _counts(round_, assumed)]
    counting = {round_.pk for round_ in opened}
    drawn = _drawn_blocks(tournament, every)
    rounds = _played(tournament, opened, drawn, assumed)
    fill_ins = {bot for block in drawn.values() for bot in block.bots} - entries.keys()
    return History(
        tournament=tournament,
        entries=entries,
        bots={bot: entry.bot for bot, entry in entries.items()} | Bot.objects.in_bulk(fill_ins),
        event_settings=event_settings_of(tournament),
        entrants=[_entrant(row, assumed, held=row.held, fails=row.fails) for row in rows],
        opened=opened,
        rounds=rounds,
        set_aside=[round_ for round_ in every if round_.pk not in counting],
        played=_blocks_before(every, drawn) if tournament.ladder.seats % 2 else {},
        next_block=max((block.number for block in drawn.values()), default=-1) + 1,
    )


def _counts(round_: Round, assumed: Assumed) -> bool:
    """Return whether a round itself counts for the tournament."""
    if round_.replays_id is not None or round_.pk in assumed.superseded:
        return False
    return round_.superseded_by_id is None or round_.pk in assumed.counting


def event_settings_of(tournament: Tournament) -> EventSettings:
    """Return the event settings of a tournament, for the pairing code."""
    ladder = tournament.ladder
    return EventSettings(
        format=Format(tournament.format),
        seats=ladder.seats,
        seed=bytes(tournament.seed),
        min_seats=_min_seats(ladder),
        blocks=tournament.blocks,
        rounds=tournament.swiss_rounds,
        max_tables=tournament.max_tables,
        extra_blocks=tournament.extra_blocks,
    )


def _min_seats(ladder: Ladder) -> int:
    """Return the fewest seats of a table; 2 for an unknown game, which is shown but not drawn."""
    try:
        return max(catalogue.find(ladder.game).preset(ladder.rules).min_seats, 2)
    except UnknownRulesError:
        return 2


def _entrant(entry: TournamentEntry, assumed: Assumed, *, held: bool, fails: bool) -> Entrant:
    """Return an entrant; one whose version ``fails`` the check for the game sits out."""
    disqualified = entry.state == TournamentEntry.State.DISQUALIFIED
    left_after = entry.left_after
    if entry.bot_id in assumed.disqualified:
        disqualified = True
    elif disqualified and entry.bot_id in assumed.reinstated:
        disqualified = False
        # As `tournament_entries.stays_withdrawn`.
        stays_out = entry.was_withdrawn or entry.bot.retired_at is not None
        left_after = left_after if stays_out else None
    return Entrant(
        bot=entry.bot_id,
        owner=entry.bot.owner_id,
        rating=entry.rating or 0,
        first_round=entry.first_round,
        left_after=left_after,
        missed_rounds=frozenset(entry.missed_rounds),
        disqualified=disqualified,
        sits_out=fails or bool({*obstacles(entry.bot, quarantined=held)} - {Obstacle.OFFLINE}),
    )


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A block that was drawn: its round, number, state, bots, and the block that it replaces."""

    round: int
    number: int
    state: str
    replaces: int | None
    bots: list[int]


def _drawn_blocks(tournament: Tournament, rounds: Iterable[Round]) -> dict[int, _Drawn]:
    """Return all blocks of a tournament's rounds by id, ascending by number and id.

    A round that has opened since the rounds were read is left out.
    """
    known = {round_.pk for round_ in rounds}
    at_tables = BlockBot.objects.filter(block__round__tournament=tournament)
    blocks: dict[int, _Drawn] = {}
    marks = VoidMark.objects.filter(block__round__tournament=tournament).newest()
    takes_back = dict(marks.values_list("block", "takes_back"))
    rows = at_tables.order_by("block__number", "block", "bot").values_list(
        "block", "block__round", "block__number", "block__state", "block__replaces", "bot"
    )
    for block, round_, number, state, replaces, bot in rows:
        if round_ not in known:
            continue
        if block in takes_back:
            state = Block.State.FINISHED if takes_back[block] else Block.State.VOID
        drawn = blocks.setdefault(block, _Drawn(round_, number, state, replaces, []))
        drawn.bots.append(bot)
    return blocks


def _blocks_before(
    rounds: Iterable[Round], drawn: Mapping[int, _Drawn]
) -> dict[tuple[int, ...], Before]:
    """Return what each table of odd size has played, with the labels of its last block."""
    seeds = {round_.pk: bytes(round_.seed) for round_ in rounds}
    found: dict[tuple[int, ...], Before] = {}
    for block in drawn.values():
        bots = tuple(block.bots)
        before = found.get(bots, Before(0, ()))
        labels = before.labels
        if before.blocks % 2 == 0:
            labels = assign_labels(derive_block_seed(seeds[block.round], block.number), bots)
        found[bots] = Before(before.blocks + 1, labels)
    return found


def _played(
    tournament: Tournament, opened: list[Round], drawn: dict[int, _Drawn], assumed: Assumed
) -> list[PlayedRound]:
    """Return the rounds for the pairing code."""
    replays = _replays(drawn)
    byes: dict[int, dict[int, int]] = defaultdict(dict)
    for round_id, bot, count in Bye.objects.filter(round__tournament=tournament).values_list(
        "round", "bot", "blocks"
    ):
        byes[round_id][bot] = count
    matches = _matches(tournament, assumed)

    def is_void(block: int) -> bool:
        state = drawn[block].state
        if state == Block.State.VOID:
            return block not in assumed.finished
        return block in assumed.void

    played: dict[int, list[PlayedBlock]] = defaultdict(list)
    for block, first in drawn.items():
        if first.replaces is not None:
            continue
        at_table = [block, *_all_replays(block, replays)]
        # At most one of these blocks counts. If all are void, the newest stands for the table.
        block = next((each for each in at_table if not is_void(each)), at_table[-1])
        void = is_void(block)
        results = () if void else tuple(matches.get(block, ()))
        played[first.round].append(PlayedBlock(tuple(drawn[block].bots), results, void))
    return [
        # A round of a tournament has a stage.
        PlayedRound(round_.stage or 0, round_.extra, tuple(played[round_.pk]), byes[round_.pk])
        for round_ in opened
    ]


def _replays(drawn: dict[int, _Drawn]) -> dict[int, list[int]]:
    """Return the blocks that replace each block, ascending."""
    found: dict[int, list[int]] = defaultdict(list)
    for block, of in sorted(drawn.items()):
        if of.replaces is not None:
            found[of.replaces].append(block)
    return found


def _all_replays(block: int, replays: Mapping[int, list[int]]) -> list[int]:
    """Return the replays of a block and the replays of these, ascending."""
    found = [*replays.get(block, ())]
    for replay in found:  # the list grows in this loop
        found += replays.get(replay, ())
    return sorted(found)


def _matches(tournament: Tournament, assumed: Assumed) -> dict[int, list[MatchResult]]:
    """Return the matches of each finished block; a void block counts for no bot."""
    marks = VoidMark.objects.filter(block__round__tournament=tournament, takes_back=True).newest()
    finished = Q(match__block__state=Block.State.FINISHED)
    finished |= Q(match__block__in=marks.values("block"))
    if assumed.finished:
        finished |= Q(match__block__in=assumed.finished)
    seats = MatchSeat.objects.filter(finished, match__block__round__tournament=tournament)
    blocks: dict[int, list[MatchResult]] = defaultdict(list)
    for _, block, result in stored_results(seats):
        blocks[block].append(result)
    return blocks

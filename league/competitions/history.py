"""The history of a tournament: its stored rows as values for the pairing code in `engine`."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from engine.errors import UnknownRulesError
from engine.games import catalogue
from engine.pairing import Entrant, EventSettings, Format, PlayedBlock, PlayedRound
from engine.rating.blocks import MatchResult
from league.models import (
    Block,
    BlockBot,
    Bot,
    Bye,
    Ladder,
    MatchSeat,
    Round,
    Tournament,
    TournamentEntry,
)
from league.ratings.match_results import stored_results


@dataclass(frozen=True)
class History:
    """A tournament up to now.

    Attributes:
        tournament: with its ladder.
        entries: by bot id, with bot and owner.
        bots: by id, all entered bots and fill-ins.
        event_settings: for the pairing code.
        entrants: the entries, for the pairing code.
        opened: the rounds in order.
        rounds: the same rounds, for the pairing code.
        times: the number of blocks drawn for each table, its bots ascending.
    """

    tournament: Tournament
    entries: dict[int, TournamentEntry]
    bots: dict[int, Bot]
    event_settings: EventSettings
    entrants: list[Entrant]
    opened: list[Round]
    rounds: list[PlayedRound]
    times: Counter[tuple[int, ...]]

    @property
    def is_over(self) -> bool:
        """Whether the tournament is finished."""
        return self.tournament.state == Tournament.State.FINISHED

    @property
    def blocks_drawn(self) -> int:
        """The number of blocks drawn, all rounds together."""
        return sum(len(round_.blocks) for round_ in self.rounds)


def history_of(tournament: Tournament) -> History:
    """Return the history of a tournament; the number of queries is always the same."""
    entries = {
        entry.bot_id: entry
        for entry in tournament.entries.select_related("bot__owner").order_by("bot")
    }
    opened = list(tournament.rounds.order_by("number"))
    rounds, times = _played(tournament, opened)
    fill_ins = {bot for table in times for bot in table} - entries.keys()
    return History(
        tournament=tournament,
        entries=entries,
        bots={bot: entry.bot for bot, entry in entries.items()} | Bot.objects.in_bulk(fill_ins),
        event_settings=event_settings_of(tournament),
        entrants=[_entrant(entry) for entry in entries.values()],
        opened=opened,
        rounds=rounds,
        times=times,
    )


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


def _entrant(entry: TournamentEntry) -> Entrant:
    return Entrant(
        bot=entry.bot_id,
        owner=entry.bot.owner_id,
        rating=entry.rating or 0,
        first_round=entry.first_round,
        left_after=entry.left_after,
        disqualified=entry.state == TournamentEntry.State.DISQUALIFIED,
        sits_out=entry.bot.paused or entry.bot.current_id is None,
    )


def _played(
    tournament: Tournament, opened: list[Round]
) -> tuple[list[PlayedRound], Counter[tuple[int, ...]]]:
    """Return the rounds for the pairing code, and the number of blocks drawn for each table."""
    blocks: dict[int, dict[int, tuple[str, list[int]]]] = defaultdict(dict)
    at_tables = BlockBot.objects.filter(block__round__tournament=tournament)
    for round_id, block, state, bot in at_tables.order_by("block__number", "bot").values_list(
        "block__round", "block", "block__state", "bot"
    ):
        blocks[round_id].setdefault(block, (state, []))[1].append(bot)
    byes: dict[int, dict[int, int]] = defaultdict(dict)
    for round_id, bot, count in Bye.objects.filter(round__tournament=tournament).values_list(
        "round", "bot", "blocks"
    ):
        byes[round_id][bot] = count
    matches = _matches(tournament)
    rounds = []
    times: Counter[tuple[int, ...]] = Counter()
    for round_ in opened:
        played = []
        for block, (state, bots) in blocks[round_.pk].items():
            table = tuple(bots)
            times[table] += 1
            void = state == Block.State.VOID
            played.append(PlayedBlock(table, tuple(matches.get(block, ())), void))
        number = round_.stage or 0  # a round of a tournament has one
        rounds.append(PlayedRound(number, round_.extra, tuple(played), byes[round_.pk]))
    return rounds, times


def _matches(tournament: Tournament) -> dict[int, list[MatchResult]]:
    """Return the matches of each finished block; a void block counts for no bot."""
    seats = MatchSeat.objects.filter(
        match__block__round__tournament=tournament, match__block__state=Block.State.FINISHED
    )
    blocks: dict[int, list[MatchResult]] = defaultdict(list)
    for _, block, result in stored_results(seats):
        blocks[block].append(result)
    return blocks

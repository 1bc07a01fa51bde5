"""What has happened in a tournament, as the pure pairing code takes it, from the stored rows."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from engine.games import catalogue
from engine.pairing import Entrant, EventSettings, Format, PlayedBlock, PlayedRound
from engine.rating.blocks import MatchResult
from league.models import Block, BlockBot, Bot, Bye, MatchSeat, Round, Tournament, TournamentEntry


@dataclass(frozen=True)
class History:
    """A tournament up to now.

    Attributes:
        tournament: with its ladder.
        entries: by bot id, with bot and owner.
        bots: by id, all that are entered or have filled in.
        event_settings: as the pairing code takes them.
        entrants: the entries, as the pairing code takes them.
        opened: the rounds in order.
        rounds: the same, as the pairing code takes them.
        times: how many blocks each table, its bots ascending, has been drawn for.
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
        """Whether nothing will be played any more."""
        return self.tournament.state == Tournament.State.FINISHED

    @property
    def blocks_drawn(self) -> int:
        """How many blocks have been drawn, all rounds together."""
        return sum(len(round_.blocks) for round_ in self.rounds)


def history_of(tournament: Tournament) -> History:
    """Return what has happened in a tournament, in a number of queries that is always the same."""
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
    """Return what is settled about a tournament."""
    ladder = tournament.ladder
    return EventSettings(
        format=Format(tournament.format),
        seats=ladder.seats,
        seed=bytes(tournament.seed),
        min_seats=max(catalogue.find(ladder.game).preset(ladder.rules).min_seats, 2),
        blocks=tournament.blocks,
        rounds=tournament.swiss_rounds,
        max_tables=tournament.max_tables,
        extra_blocks=tournament.extra_blocks,
    )


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
    """Return the rounds as they were played, and how often each table was drawn."""
    blocks: dict[int, dict[int, tuple[str, list[int]]]] = defaultdict(dict)
    at_tables = BlockBot.objects.filter(block__round__tournament=tournament)
    for round_, block, state, bot in at_tables.order_by("block__number", "bot").values_list(
        "block__round", "block", "block__state", "bot"
    ):
        blocks[round_].setdefault(block, (state, []))[1].append(bot)
    byes: dict[int, dict[int, int]] = defaultdict(dict)
    for round_, bot, count in Bye.objects.filter(round__tournament=tournament).values_list(
        "round", "bot", "blocks"
    ):
        byes[round_][bot] = count
    matches = _matches(tournament)
    rounds = []
    times: Counter[tuple[int, ...]] = Counter()
    for position, round_ in enumerate(opened, 1):
        played = []
        for block, (state, bots) in blocks[round_.pk].items():
            table = tuple(bots)
            times[table] += 1
            void = state == Block.State.VOID
            played.append(PlayedBlock(table, tuple(matches.get(block, ())), void))
        # A version of the league that knows no stages has numbered none, and has no extra blocks.
        number = round_.stage or position
        rounds.append(PlayedRound(number, round_.extra, tuple(played), byes[round_.pk]))
    return rounds, times


def _matches(tournament: Tournament) -> dict[int, list[MatchResult]]:
    """Return the matches of each finished block; a void one counts for nobody."""
    seats = (
        MatchSeat.objects.filter(
            match__block__round__tournament=tournament, match__block__state=Block.State.FINISHED
        )
        .order_by("match__block", "match", "seat")
        .values_list("match__block", "match", "bot", "place", "score")
    )
    tables: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for block, match, bot, place, score in seats:
        tables[block, match].append((bot, place or 0, score or 0))
    blocks: dict[int, list[MatchResult]] = defaultdict(list)
    for (block, _), table in tables.items():
        seating, places, points = zip(*table, strict=True)
        blocks[block].append(MatchResult(seating, places, points))
    return blocks

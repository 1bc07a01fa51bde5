"""What the API answers, as types: the JSON objects themselves, under the names of the schema.

Times are texts in ISO 8601, UTC. A league may answer with more than is named here.
"""

from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

from engine.games.game import Observation

Row = TypeVar("Row")


class Page(TypedDict, Generic[Row]):
    """A page of a list; ``next`` is the address of the one after."""

    results: list[Row]
    next: str | None
    previous: str | None


class OwnerToken(TypedDict):
    """A new owner token."""

    username: str
    token: str


class BotToken(TypedDict):
    """A new bot token."""

    token: str


class Preset(TypedDict):
    """An edition or variant of a game."""

    name: str
    min_seats: int
    max_seats: int
    options: dict[str, Any]


class Game(TypedDict):
    """A game; its default preset comes first."""

    game: str
    presets: list[Preset]


class Bot(TypedDict):
    """A bot; a house bot has no owner."""

    name: str
    kind: Literal["remote", "hosted", "house"]
    owner: str | None
    description: str
    paused: bool
    version: int | None
    online: bool
    created_at: str


class CreatedBot(Bot):
    """A bot just created, with its token."""

    token: str


class Version(TypedDict):
    """A version of a bot."""

    bot: str
    number: int
    state: Literal["checking", "ready", "refused"]
    note: str
    held: bool
    created_at: str


class QualifyingMatch(TypedDict):
    """A qualifying match of a version; ``observation`` is what it failed at."""

    game: str
    passed: bool
    reason: str
    printed: str
    observation: Observation | None
    played_at: str


class VersionLog(Version):
    """A version as its owner sees it."""

    reason: str
    qualifying: list[QualifyingMatch]


class SeatFault(TypedDict):
    """A move that the referee made in a bot's stead; ``test`` is a unit test of the bot."""

    ply: int
    kind: str
    reason: str
    move: str
    observation: Observation | None
    test: str | None


class Receipt(TypedDict):
    """The receipts of a turn's clock."""

    turn: int
    ply: int
    opened_at: str
    handed_out_at: str | None
    deadline: str
    decided_at: str | None
    bank_ms: int
    illegal_answers: int
    move: str
    fault: str


class SeatLog(TypedDict):
    """What its owner may know of a bot's seat in a match."""

    seat: int
    bot: str
    version: int
    printed: str
    faults: list[SeatFault]
    turns: list[Receipt]


class Comparison(TypedDict):
    """An A/B test of two versions; ``verdict`` is empty before there is one."""

    id: int
    bot: str
    ladder: str
    new: int
    old: int
    promote: bool
    promoted: bool
    not_promoted: str
    state: Literal["running", "finished", "cancelled"]
    verdict: str
    created_at: str
    ended_at: str | None


class ComparisonStep(TypedDict):
    """A test after some swap blocks."""

    blocks: int
    mean: float
    llr: float


class ComparisonDetail(Comparison):
    """A comparison with the path of its log-likelihood ratio, and the bounds of that."""

    lower: float
    upper: float
    path: list[ComparisonStep]


class ChangedByMatch(TypedDict):
    """A match that a change of a rating was made of."""

    id: int
    number: int
    status: str
    commitment: str
    deal_seed: str | None


class ChangeByBlock(TypedDict):
    """What a block did to a bot's rating, in thousandths of an Elo point."""

    block: int
    delta: int
    void_reason: str | None
    matches: list[ChangedByMatch]


class RatingChange(TypedDict):
    """A row of the ledger: what a round did to a bot's rating."""

    round: int
    bot: str
    revision: int
    rating_before: int
    rating_after: int
    changes: list[ChangeByBlock]


class Revision(TypedDict):
    """A correction of a ladder."""

    number: int
    from_round: int
    reason: str
    made_at: str


class Suspicion(TypedDict):
    """A pair of bots that does better next to each other than chance lets expect."""

    partner: str
    gainer: str
    question: Literal["fed", "with"]
    gain: float
    blocks: int
    t: float
    p: float
    matches: list[int]


class Ladder(TypedDict):
    """A ladder: bots that are rated at one game."""

    slug: str
    title: str
    game: str
    rules: str
    seats: int
    move_seconds: float
    bank_seconds: float
    idle_days: int
    paused: bool
    created_at: str


class Standing(TypedDict):
    """A bot's place on a ladder; ``rating`` is in thousandths of an Elo point."""

    rank: int | None
    band: int | None
    bot: str
    owner: str | None
    version: int
    rating: int
    provisional: bool
    performance: float | None
    performance_error: float | None
    performance_blocks: int
    blocks: int
    matches: int
    win_share: float | None
    mean_points: float | None
    trend: int | None
    hidden: Literal["idle", "withdrawn"] | None
    hidden_at: str | None


class BotStanding(Standing):
    """A bot's place on a ladder, and what comes next."""

    ladder: str
    due: str
    blocks_to_halve_error: int | None


class PastPerformance(TypedDict):
    """What a bot's current version of then had shown up to a round in which it was rated."""

    round: int
    performance: float
    performance_error: float | None
    band: int | None
    blocks: int
    matches: int
    win_share: float
    mean_points: float


class Meeting(TypedDict):
    """What a bot took from an opponent on a ladder: a share of the matches in which they met."""

    bot: str
    opponent: str
    matches: int
    share: float


class Round(TypedDict):
    """A round of blocks on a ladder."""

    ladder: str
    number: int
    tournament: int | None
    commitment: str
    seed: str | None
    blocks: int
    blocks_finished: int
    blocks_void: int
    opened_at: str
    applied_at: str | None


class LadderEntry(TypedDict):
    """That a bot is on a ladder."""

    ladder: str
    bot: str
    entered_at: str


class Tournament(TypedDict):
    """A tournament."""

    id: int
    title: str
    ladder: str
    format: str
    state: str
    entries_open_at: str
    starts_at: str
    finished_at: str | None
    blocks_per_table: int
    swiss_rounds: int | None
    late_entry: bool
    house_bots: bool
    fill_in: bool
    max_tables: int
    extra_blocks: int
    entries: int
    commitment: str
    seed: str | None


class TournamentRow(TypedDict):
    """How an entrant of a tournament stands."""

    rank: int | None
    bot: str
    owner: str | None
    state: str
    reason: str
    round_reached: int | None
    table_place: int | None
    score: float
    head_to_head: float | None
    buchholz: float
    sonneborn_berger: float
    wins: int
    mean_points: float
    lot: str
    decided_by: str | None
    blocks: int
    byes: int
    matches: int


class TournamentEntry(TypedDict):
    """That a bot is entered for a tournament."""

    tournament: int
    bot: str
    owner: str | None
    entered_at: str
    state: Literal["entered", "withdrawn", "disqualified"]
    rating: int | None
    first_round: int
    left_after: int | None
    reason: str


class Bye(TypedDict):
    """A bot that sits blocks of a round out."""

    bot: str
    blocks: int


class TournamentBlock(TypedDict):
    """A block of a tournament's round."""

    number: int
    state: str
    rated: bool
    duplicate: bool
    bots: list[str]


class TournamentRound(Round):
    """A round of a tournament."""

    stage: int | None
    extra: int
    byes: list[Bye]
    tables: list[TournamentBlock]


class Met(TypedDict):
    """What a bot took from an opponent."""

    opponent: str
    blocks: int
    taken: float


class CrossRow(TypedDict):
    """What an entrant took from each that it met."""

    rank: int | None
    bot: str
    met: list[Met]


class BracketSeat(TypedDict):
    """A bot at a table of a knockout."""

    bot: str
    seed: int | None
    scores: list[float]
    goes_on: bool | None


class BracketTable(TypedDict):
    """A table of a knockout's round."""

    seats: list[BracketSeat]
    extra_blocks: int
    by_seed: bool


class BracketRound(TypedDict):
    """A round of a knockout."""

    stage: int
    final: bool
    tables: list[BracketTable]
    byes: list[BracketSeat]


class Seat(TypedDict):
    """Who sits where and, once finished, how it came out."""

    seat: int
    bot: str
    version: int
    score: int | None
    place: int | None
    forfeited: bool
    faults: int


class Match(TypedDict):
    """A match, as everybody may see it."""

    id: int
    game: str
    rules: str
    seats: int
    status: Literal["waiting", "playing", "finished", "void"]
    ladder: str | None
    tournament: int | None
    round: int | None
    block: int | None
    number: int
    move_seconds: float
    bank_seconds: float
    commitment: str
    deal_seed: str | None
    seating: list[Seat]
    created_at: str
    started_at: str | None
    finished_at: str | None


class WatchedMatch(Match):
    """A match with what a spectator sees of it; null where nothing may be seen."""

    view: dict[str, Any] | None


class Turn(TypedDict):
    """An open turn; ``remaining_ms`` is what is left of its clock, the bank included."""

    match: int
    seat: int
    turn: int
    deadline: str
    remaining_ms: int
    bank_ms: int
    observation: Observation


class Accepted(TypedDict):
    """A move that counts, in its canonical text."""

    status: Literal["accepted"]
    move: str
    turn: int
    remaining_ms: int


class Move(TypedDict):
    """A move to send."""

    match: int
    turn: int
    move: str


class Verdict(TypedDict):
    """What became of one of several moves: accepted, or a problem document with its ``code``.

    ``status`` is ``"accepted"``, or the HTTP status that the problem would have had alone.
    """

    match: int
    turn: int
    status: Literal["accepted"] | int
    move: NotRequired[str]
    remaining_ms: NotRequired[int]
    code: NotRequired[str]
    detail: NotRequired[str]
    legal_moves: NotRequired[list[str]]
    answers_left: NotRequired[int]


class Verdicts(TypedDict):
    """What became of several moves, in their order, and the turns that are open now."""

    verdicts: list[Verdict]
    turns: list[Turn]

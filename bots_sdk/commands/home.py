"""Options and set-up of the commands that play matches on your machine: ``try`` and ``ab``."""

import secrets
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

import typer

from bots_sdk import calls, paths
from bots_sdk.arena.contestants import Contestant, field_of
from bots_sdk.arena.matches import LADDER_RULES, MatchType
from bots_sdk.arena.pool import cores
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.leagues import chosen_league, client_for
from bots_sdk.invoking import typed
from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.declarations import declared_games
from bots_sdk.sandbox.sources import Source
from engine.deals import parse_seed
from engine.errors import UnknownRulesError, listed, quote
from engine.games.catalogue import GAMES, find

Game = Annotated[
    Literal["twelve-days", "partridge"] | None,
    typer.Option(
        help="The game. Default: the game of --rules or --ladder. Without these options, the game "
        "that the file declares in GAMES. Without GAMES, twelve-days.",
        show_default=False,
    ),
]
RulesName = Annotated[
    str,
    typer.Option(
        help="The preset (edition) of the game; default: "
        f"{', '.join(f'{rules} for {game}' for game, rules in LADDER_RULES.items())}.",
        show_default=False,
    ),
]
LadderRules = Annotated[
    str,
    typer.Option(
        "--ladder",
        metavar="LADDER",
        help="Play the game, preset and number of seats of this ladder of your league. "
        "`twelfth-night ladder` lists the short names of ladders.",
        show_default=False,
    ),
]
Seats = Annotated[
    int | None, typer.Option(help="The number of seats; default: 4.", show_default=False)
]
Against = Annotated[
    list[str],
    typer.Option(
        help="An opponent: a bot's file, or a house bot (a bot of the league itself), such as "
        "house-thumb. The word `quick` stands for house-random, house-thumb and house-counting. "
        "The word `house` stands for these three and house-search, which takes seconds per match. "
        "You can repeat this option."
    ),
]
SeedText = Annotated[
    str,
    typer.Option(
        "--seed", help="Any text. The same text gives the same deals.", show_default=False
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="How many matches to play in parallel; default: one per core.",
        show_default=False,
    ),
]
Faults = Annotated[
    Path,
    typer.Option(
        help="Save the bot's input in this directory at each crash, timeout or illegal move."
    ),
]


@dataclass(frozen=True, slots=True)
class HomeSetup:
    """The set-up of matches on this machine.

    Attributes:
        table: the game, the preset and the number of seats.
        field: the opponents.
        seed_text: the text for ``--seed`` that gives the same deals again.
        seed: the seed, 32 bytes.
        game_option: the option that set the game; empty without one.
    """

    table: MatchType
    field: tuple[Contestant, ...]
    seed_text: str
    seed: bytes
    game_option: str = ""

    @classmethod
    def from_options(
        cls,
        files: Sequence[str],
        *,
        game: str | None,
        rules: str,
        seats: int | None,
        ladder: str,
        against: list[str],
        seed: str,
    ) -> "HomeSetup":
        """Return the set-up for the options of a command.

        Args:
            files: the words for the tested bots; their GAMES set the default game.
            game: the option --game, and so on.
            rules: the preset.
            seats: the number of seats.
            ladder: the slug of a ladder.
            against: the words for the opponents.
            seed: the seed's text.

        Raises:
            ImpossibleError: no such preset or number of seats exists, or no opponent is given.
            ArenaError: an opponent does not exist.
            LeagueError: a ladder is given, and the league does not show it.
        """
        asked = game
        if ladder:
            if game or rules or seats is not None:
                raise ImpossibleError(
                    "--ladder sets game, preset and seats: leave out --game, --rules and --seats."
                )
            table = _ladder_table(ladder)
        else:
            declared = {each: None for word in files for each in declared_by(word)}
            if not game and not rules and declared:
                game = next(iter(declared))
            table = _match_type(game, rules, seats)
        text, seed_bytes = _seed_of(seed)
        options = {"--ladder": ladder, "--game": asked, "--rules": rules}
        option = next((name for name, value in options.items() if value), "")
        return cls(table, _opponents(against), text, seed_bytes, option)

    @property
    def title(self) -> str:
        """The game, the preset and the number of seats, as a part of a sentence."""
        return f"{self.table.game} {self.table.rules}, {self.table.seats} seats"


def process_count(jobs: int | None, matches: int) -> int:
    """Return the number of processes: as given, else one per core, and no more than matches."""
    return max(1, min(jobs or cores(), matches))


def declared_by(word: str) -> tuple[str, ...]:
    """Return the games that a bot's file declares in GAMES; none for a house bot.

    Raises:
        ImpossibleError: the declaration is not a list of games.
    """
    path = Path(word)
    try:
        text = (path / "bot.py" if path.is_dir() else path).read_bytes()
    except OSError:
        return ()
    try:
        return declared_games(Source(text))
    except SourceRefusedError as error:
        raise ImpossibleError(f"{word}: {error}.") from None


def note_undeclared(files: Sequence[str], setup: HomeSetup) -> None:
    """Print a note for each file that declares other games than the one that is played.

    Args:
        files: the words for the tested bots.
        setup: the set-up of the matches, whose opponents get such notes too.
    """
    game, option = setup.table.game, setup.game_option
    writes = f"`twelfth-night new NAME --game {game}`"
    for word in files:
        leave_out = f"Leave out {option}, or write a bot" if option else "Write a bot"
        _note_undeclared(word, game, f"{leave_out} for {game}: {writes}.")
    for opponent in setup.field:
        if opponent.path is not None and opponent.name not in files:
            with suppress(ImpossibleError):  # a wrong GAMES does not keep an opponent from playing
                remedy = f"Choose an opponent that plays {game}; {writes} writes such a bot."
                _note_undeclared(opponent.name, game, remedy)


def note_changed(files: Iterable[str]) -> None:
    """Print a note for each file beside a bot that changed while the matches were played."""
    for file in sorted(files):
        print(
            f"Note: {file} changed while the matches were played, so the results may mix two "
            "versions of a bot. Run the command again.",
            file=sys.stderr,
        )


def _note_undeclared(word: str, game: str, remedy: str) -> None:
    declared = declared_by(word)
    if declared and game not in declared:
        note = f"Note: {word} declares GAMES = {list(declared)}, so perhaps it can't play {game}."
        print(typed(f"{note} {remedy}"), file=sys.stderr)


def _ladder_table(slug: str) -> MatchType:
    with client_for(chosen_league()[0]) as client:
        found = client.send(calls.ladder(slug))
    try:
        find(found["game"]).preset(found["rules"]).check_seats(found["seats"])
    except UnknownRulesError as error:
        raise ImpossibleError(
            f"This version of twelfth-night is too old for the ladder {slug}: {error}. Update it."
        ) from None
    return MatchType(found["game"], found["rules"], found["seats"])


def _match_type(game: str | None, rules: str, seats: int | None) -> MatchType:
    if rules and not game:
        game = next((each for each, state in GAMES.items() if rules in state.presets), "")
        if not game:
            presets = [name for state in GAMES.values() for name in state.presets]
            raise ImpossibleError(
                f"There is no preset {quote(rules)}. The presets are {listed(presets)}."
            )
    state = GAMES[game or "twelve-days"]
    try:
        preset = state.preset(rules or LADDER_RULES[state.game])
        if seats is None:
            seats = min(4, preset.max_seats)
        preset.check_seats(seats)
    except UnknownRulesError as error:
        raise ImpossibleError(f"{error}.") from None
    return MatchType(state.game, preset.name, seats)


def _opponents(words: list[str]) -> tuple[Contestant, ...]:
    """Return the opponents; a word may also be several names with commas between them."""
    names = [
        name
        for word in words
        for name in ([word] if paths.exists(word) else word.split(","))
        if name
    ]
    if not names:
        raise ImpossibleError(
            "--against names no opponent. Name one, such as --against house-thumb, or leave out "
            "--against."
        )
    return field_of(names)


def _seed_of(text: str) -> tuple[str, bytes]:
    """Return a seed's text, a new one if it is empty, and its 32 bytes.

    64 hex digits stand for the bytes themselves, as in the engine's commands.
    """
    text = text or secrets.token_hex(4)
    try:
        return text, parse_seed(text)
    except ValueError:
        return text, sha256(text.encode("utf-8", "surrogateescape")).digest()

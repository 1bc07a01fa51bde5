"""Options and set-up of the commands that play matches on your machine: ``try`` and ``ab``."""

import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import typer
from rich.console import Console

from bots_sdk.arena.contestants import Contestant, field_of
from bots_sdk.arena.matches import MatchType
from bots_sdk.arena.pool import cores
from bots_sdk.commands.errors import ImpossibleError
from engine.deals import parse_seed
from engine.errors import UnknownRulesError, listed, quote
from engine.games.catalogue import GAMES

Display = TypeVar("Display", bound=AbstractContextManager[object])

Game = Annotated[
    Literal["twelve-days", "partridge"] | None,
    typer.Option(
        help="The game; default: the game of --rules, else twelve-days.", show_default=False
    ),
]
RulesName = Annotated[
    str,
    typer.Option(
        help="The preset, which is an edition of the game; default: calliope for twelve-days, "
        "eagle for partridge.",
        show_default=False,
    ),
]
Seats = Annotated[
    int, typer.Option(min=0, help="The number of seats; default: 4.", show_default=False)
]
Against = Annotated[
    list[str],
    typer.Option(
        help="The opponents: a reference bot such as house-thumb, a bot's file, or house for all "
        "reference bots. You can repeat this option."
    ),
]
SeedText = Annotated[
    str,
    typer.Option(
        "--seed", help="Any text; the same text gives the same deals.", show_default=False
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        min=0,
        help="How many matches to play in parallel; default: one per core.",
        show_default=False,
    ),
]
Faults = Annotated[Path, typer.Option(help="Save the bot's input at each fault in this directory.")]


@dataclass(frozen=True, slots=True)
class HomeSetup:
    """The set-up of matches on this machine.

    Attributes:
        table: the game, the preset and the number of seats.
        field: the opponents.
        seed_text: the seed as you can repeat it with ``--seed``.
        seed: the seed, 32 bytes.
    """

    table: MatchType
    field: tuple[Contestant, ...]
    seed_text: str
    seed: bytes

    @classmethod
    def from_options(
        cls, game: str | None, rules: str, seats: int, against: list[str], seed: str
    ) -> "HomeSetup":
        """Return the set-up for the options of a command.

        Raises:
            ImpossibleError: no such preset or number of seats exists, or no opponent is given.
            ArenaError: an opponent does not exist.
        """
        table = _match_type(game, rules, seats)
        text, seed_bytes = _seed_of(seed)
        return cls(table, _opponents(against), text, seed_bytes)

    @property
    def title(self) -> str:
        """The game, the preset and the number of seats, as a part of a sentence."""
        return f"{self.table.game} {self.table.rules}, {self.table.seats} seats"


def process_count(jobs: int, matches: int) -> int:
    """Return the number of processes: as given, else one per core, and no more than matches."""
    return max(1, min(jobs or cores(), matches))


@contextmanager
def live_display(
    create: Callable[[Console], Display], *, as_json: bool
) -> Iterator[tuple[Callable[[str], None], Display | None]]:
    """Show a live display on the terminal, if there is one.

    Args:
        create: returns the display for a console.
        as_json: whether the command prints JSON and nothing else.

    Yields:
        A function that prints a line above the display, and the display; None without a terminal.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if as_json or not console.is_terminal:
        yield (lambda line: None if as_json else print(line, file=sys.stderr)), None
        return
    with (display := create(console)):
        yield (lambda line: console.print(line, markup=False)), display


def _match_type(game: str | None, rules: str, seats: int) -> MatchType:
    if rules and not game:
        game = next((each for each, state in GAMES.items() if rules in state.presets), "")
        if not game:
            presets = [name for state in GAMES.values() for name in state.presets]
            raise ImpossibleError(
                f"There is no preset {quote(rules)}. The presets are {listed(presets)}."
            )
    state = GAMES[game or "twelve-days"]
    try:
        preset = state.preset(rules or next(iter(state.presets)))
        seats = seats or min(4, preset.max_seats)
        preset.check_seats(seats)
    except UnknownRulesError as error:
        raise ImpossibleError(f"{error}.") from None
    return MatchType(state.game, preset.name, seats)


def _opponents(words: list[str]) -> tuple[Contestant, ...]:
    """Return the opponents; a word may also be several names with commas between them."""
    names = [
        name
        for word in words
        for name in ([word] if Path(word).exists() else word.split(","))
        if name
    ]
    if not names:
        raise ImpossibleError(
            "--against names no opponent. --against house takes all reference bots."
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

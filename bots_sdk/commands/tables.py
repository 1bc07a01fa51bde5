"""What the commands that play at home are told: game, rules, seats, opponents, seed, processes."""

import secrets
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

import typer

from bots_sdk.arena.contestants import Contestant, field_of
from bots_sdk.arena.matches import Table
from bots_sdk.arena.pool import cores
from bots_sdk.commands.shared import ImpossibleError
from engine.deals import parse_seed
from engine.errors import UnknownRulesError, listed, quote
from engine.games.catalogue import GAMES

Game = Annotated[
    Literal["twelve-days", "partridge"] | None,
    typer.Option(help="What is played; default: twelve-days, or by --rules.", show_default=False),
]
RulesName = Annotated[
    str, typer.Option(help="The preset; default: the game's first.", show_default=False)
]
Seats = Annotated[
    int, typer.Option(min=0, help="How many sit at a table; default: 4.", show_default=False)
]
Against = Annotated[
    list[str],
    typer.Option(
        help="Opponents: house for the reference bots, a name of one, or a file; repeat it."
    ),
]
SeedText = Annotated[
    str,
    typer.Option("--seed", help="Any text: the same one plays the same deals.", show_default=False),
]
Jobs = Annotated[
    int, typer.Option(min=0, help="Processes; default: one a core.", show_default=False)
]
Faults = Annotated[Path, typer.Option(help="Where the observations of faults are saved.")]


def table_of(game: str | None, rules: str, seats: int) -> Table:
    """Return the table that is meant, where what isn't told is what most play.

    Raises:
        ImpossibleError: there is no such table.
    """
    if rules and not game:
        game = next((each for each, state in GAMES.items() if rules in state.presets), "")
        if not game:
            presets = [name for state in GAMES.values() for name in state.presets]
            raise ImpossibleError(f"There is no preset {quote(rules)}; there is {listed(presets)}.")
    state = GAMES[game or "twelve-days"]
    try:
        preset = state.preset(rules or next(iter(state.presets)))
        seats = seats or min(4, preset.max_seats)
        preset.check_seats(seats)
    except UnknownRulesError as error:
        raise ImpossibleError(f"{error}.") from None
    return Table(state.game, preset.name, seats)


def opponents(words: list[str]) -> tuple[Contestant, ...]:
    """Return the field; commas separate as well.

    Raises:
        ArenaError: there is no such bot.
        ImpossibleError: nobody is named.
    """
    parts = [
        part
        for word in words
        for part in ([word] if Path(word).exists() else word.split(","))
        if part
    ]
    if not parts:
        raise ImpossibleError("Against whom? --against house takes all reference bots.")
    return field_of(parts)


def seed_of(text: str) -> tuple[str, bytes]:
    """Return the text of a seed, a new one where there is none, and its 32 bytes.

    64 hex digits are the bytes themselves, as the engine's commands take them.
    """
    text = text or secrets.token_hex(4)
    try:
        return text, parse_seed(text)
    except ValueError:
        return text, sha256(text.encode("utf-8", "surrogateescape")).digest()


def jobs_of(jobs: int, matches: int) -> int:
    """Return how many processes to start: as told, or one a core, and none to stand idle."""
    return max(1, min(jobs or cores(), matches))

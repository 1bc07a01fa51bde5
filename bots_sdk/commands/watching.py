"""``watch``: a match step by step, played here by bots, or at a league."""

import re
import sys
import time
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console

from bots_sdk import calls
from bots_sdk.arena.contestants import QUICK, field_of
from bots_sdk.arena.matches import Fixture, limit_time, play_fixture, players_of
from bots_sdk.arena.replay import frames
from bots_sdk.client import Client, ServerEvent
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.home import (
    Game,
    HomeSetup,
    LadderRules,
    RulesName,
    SeedText,
    note_undeclared,
)
from bots_sdk.commands.leagues import chosen_league, client_for
from bots_sdk.commands.output import Json, print_json
from bots_sdk.commands.progress import progress
from bots_sdk.commands.records import match_number
from bots_sdk.commands.replaying import show_steps, steps_of
from bots_sdk.errors import UnreachableError
from engine.errors import RecordError
from engine.games.events import CardsLed, Event, RoundDealt
from engine.record import read, verify, write
from engine.sentences import begin_a_match, sentence

_ADDRESS = re.compile(r"(https?://.+?)/(?:api/v1/)?matches/(\d+)(?:/.*)?")
_MAX_LOST_STREAMS = 5
_AGAIN_SECONDS = 2.0


def watch(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOT or MATCH",
            help="The bots by seat: files, or house bots (bots of the league itself) such as "
            "house-thumb. The other seats get house-random, house-thumb and house-counting. To "
            "watch a match at a league, give its number or address.",
            show_default=False,
        ),
    ] = None,
    game: Game = None,
    rules: RulesName = "",
    seats: Annotated[
        int | None,
        typer.Option(
            help="The number of seats; default: 4, or the number of bots if you name more.",
            show_default=False,
        ),
    ] = None,
    ladder: LadderRules = "",
    seed: SeedText = "",
    show_all: Annotated[
        bool,
        typer.Option("--all", help="Print all steps at once."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Watch a match step by step, with the reason of each result.

    If you name bots or nothing, the command plays a match on this machine. If you name a match that
    is still in play at the league, the command follows it live. In a terminal you step through a
    finished match with the arrow keys. Without a terminal, the command prints all steps.
    """
    words = what or []
    show_all = show_all or not _at_terminal()
    number = _number_of(words)
    if number is None:
        _watch_here(
            words, game, rules, seats, ladder, seed=seed, show_all=show_all, as_json=as_json
        )
        return
    if game or rules or seats is not None or ladder or seed:
        raise ImpossibleError(
            "The league has set the rules of its match: leave out --game, --rules, --seats, "
            "--ladder and --seed."
        )
    url, match = number
    with client_for(url or chosen_league()[0]) as client:
        _watch_league(client, match, show_all=show_all, as_json=as_json)


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _number_of(words: list[str]) -> tuple[str, int] | None:
    """Return the league's address, empty for the default one, and the number of its match.

    Returns None if the words are bots.

    Raises:
        ImpossibleError: a word is an address or a number, but not of a match.
    """
    for word in words:
        address = _ADDRESS.fullmatch(word)
        number = match_number(address[2] if address else word)
        if number is not None:
            if len(words) > 1:
                raise ImpossibleError(f"{word} is a match of a league. Watch one match at a time.")
            return address[1] if address else "", number
        if word.startswith(("http://", "https://")):
            scheme, _, rest = word.partition("://")
            example = f"{scheme}://{rest.split('/')[0] or 'HOST'}/matches/1/"
            raise ImpossibleError(f"{word} is not the address of a match, such as {example}.")
    return None


# -- At home ------------------------------------------------------------------------------------


def _watch_here(
    words: list[str],
    game: str | None,
    rules: str,
    seats: int | None,
    ladder: str,
    *,
    seed: str,
    show_all: bool,
    as_json: bool,
) -> None:
    given = [each for word in words for each in field_of([word])]  # `house` stands for several
    if seats is None and not ladder and len(given) > 4:
        seats = len(given)
    setup = HomeSetup.from_options(
        words, game=game, rules=rules, seats=seats, ladder=ladder, against=[QUICK], seed=seed
    )
    seats = setup.table.seats
    if len(given) > seats:
        raise ImpossibleError(f"{len(given)} bots are given for {seats} seats. Leave some out.")
    if not as_json:
        note_undeclared(words, setup)
    others = [setup.field[seat % len(setup.field)] for seat in range(seats - len(given))]
    contestants = [*given, *others]
    order = tuple(range(seats))
    fixture = Fixture(number=1, block=0, deal_seed=setup.seed, bots=order, seating=order)
    names = [each.name for each in contestants]
    limit_time()
    began = time.monotonic()

    def line() -> str:
        return f"the match has been in play for {time.monotonic() - began:.0f} s"

    with progress(line, quiet=as_json):
        played = play_fixture(players_of(contestants), setup.table, fixture, names)
    if as_json:
        print(write(played.record))
        return
    show_steps(steps_of(played, f"--seed {setup.seed_text}"), show_all=show_all)


# -- At a league --------------------------------------------------------------------------------


def _watch_league(client: Client, number: int, *, show_all: bool, as_json: bool) -> None:
    found = client.send(calls.match(number))
    page = f"{client.url}/matches/{number}/"
    if as_json:
        for event in _events(client, number):
            print_json({"event": event.event, "id": event.id, "data": event.data})
        return
    names = [seat["bot"] for seat in found["seating"]]
    if found["deal_seed"] is not None:
        data = client.send(calls.record(number))
        try:
            record = read(data)
            verify(record)
        except RecordError as error:
            raise ImpossibleError(
                f"The record of match {number} is not valid: {error}. "
                f"`twelfth-night verify {number}` shows more."
            ) from None
        show_steps(list(frames(record, page, -1)), show_all=show_all)
        return
    rated = "unrated" if found["ladder"] is None else f"rated on {found['ladder']}"
    print(f"{found['game']} {found['rules']}, {rated}, {found['status']}  {page}")
    if found["status"] == "finished" and found["deal_seed"] is None:
        print(
            "The cards in the hands stay secret until all matches with the same deal are finished. "
            "Then this command shows them."
        )
    elif found["status"] in ("waiting", "playing"):
        print("Each step appears when it is played; Ctrl-C stops.")
    print(flush=True)
    waits_since = time.monotonic()

    def line() -> str:
        return f"waiting for the next step for {time.monotonic() - waits_since:.0f} s"

    console = Console(highlight=False, soft_wrap=True)
    narrator = _Narrator(names)
    with progress(line, results=console):
        for event in _events(client, number):
            console.print(narrator.text_of(event), markup=False)
            waits_since = time.monotonic()


class _Narrator:
    """Puts the events of a live match into words, from its beginning.

    Args:
        names: of the bots by seat.
    """

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._round = self._trick = 0

    def text_of(self, event: ServerEvent) -> str:
        """Return the sentences of a phase, or of the end of the match."""
        if event.event == "end":
            return f"The match is {event.data['status']}."
        try:
            begins = begin_a_match(event.events)
            lines = [line for each in event.events for line in self._lines(each, begins=begins)]
        except ValueError:
            return "(This version of twelfth-night is too old to show this step. Update it.)\n"
        return "".join(f"{line}\n" for line in lines)

    def _lines(self, event: Event, *, begins: bool) -> list[str]:
        """Return the sentence of an event, after a headline if it begins a trick."""
        if isinstance(event, RoundDealt):
            self._round, self._trick = event.round, 0
        if not isinstance(event, CardsLed):
            return [sentence(event, self._names, at_start=begins)]
        self._trick += 1
        headline = f"round {self._round}, trick {self._trick}"
        return [headline, sentence(event, self._names)]


def _events(client: Client, number: int) -> Iterator[ServerEvent]:
    """Yield the events of a match until its end, through lost connections.

    Raises:
        LeagueError: the league refuses, or connections fail several times in a row.
    """
    last: str | None = None
    lost = 0
    while True:
        try:
            with client.events(calls.match_events(number, last)) as events:
                for event in events:
                    if event.event == "clock":
                        continue
                    yield event
                    lost, last = 0, event.id
                    if event.event == "end":
                        return
            lost += 1
            if lost > _MAX_LOST_STREAMS:
                return
        except UnreachableError:
            lost += 1
            if lost > _MAX_LOST_STREAMS:
                raise
        time.sleep(_AGAIN_SECONDS)

"""``analyse``: chances, the loss of each decision, and luck apart from play."""

import time
from collections.abc import Sequence
from typing import Annotated, TypeVar

import typer

from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.output import Json, add_row, new_table, percent, print_json, print_table
from bots_sdk.commands.progress import progress, time_left
from bots_sdk.commands.records import match_number, names_of, of_file, of_league
from engine.analysis import (
    DEFAULT_PLAYOUTS,
    MAX_PLAYOUTS,
    Analysis,
    Chance,
    Decision,
    Total,
    analyse,
)
from engine.analysis.results import BLUNDER_LOSS, ERRORS, MISTAKE_LOSS, places, signed
from engine.errors import RecordError, quote
from engine.playback import steps_of
from engine.rating.results import forfeited_in, places_of
from engine.record import Record, verify
from engine.sentences import move_in_words

_LEAST_PLAYOUTS = 8
_WORST = 5
_MARKED = ("mistake", "blunder")
_LATER_CARDS = {
    "twelve-days": ("draws", "by the later cards"),
    "partridge": ("later deals", "by the cards of later rounds"),
}
"""By game: the name of the part of a result by cards after the first deal, and its meaning."""
_Item = TypeVar("_Item")


def analyse_match(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE or MATCH",
            help="A file of records, or the number of a match at the league.",
            show_default=False,
        ),
    ],
    line: Annotated[int, typer.Option(min=1, help="The line of the record in the file.")] = 1,
    playouts: Annotated[
        int,
        typer.Option(
            min=_LEAST_PLAYOUTS,
            max=MAX_PLAYOUTS,
            help="The number of simulated matches (playouts) for each comparison of two moves. "
            "Four times as many playouts halve the error bars (±).",
        ),
    ] = DEFAULT_PLAYOUTS,
    bot: Annotated[
        str,
        typer.Option(help="List the decisions of this bot only.", show_default=False),
    ] = "",
    show_all: Annotated[
        bool, typer.Option("--all", help="List all decisions, not only mistakes and blunders.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what each decision of a finished match gained or lost, and how much was luck.

    The command prints each seat's chance of the first place, the loss of each mistake, and how much
    luck and play changed each seat's result.

    Losses, luck and play are in places of the final ranking: a move with a loss of 0.4 makes its
    seat end 0.4 places lower on average. With --json they are in win shares, from 0 to 1. The win
    share is the share of opponents that the bot beats. A tie is half a win. In JSON, a decision
    also has its ply: the number of the move in the match, from 0.

    Without --playouts, the numbers are the same as on the league's page of the match.
    """
    number = match_number(what)
    record = of_file(what, line) if number is None else of_league(number)
    players = names_of(record)
    if bot and bot not in players:
        raise ImpossibleError(
            f"{quote(bot, 64)} did not play in this match. Its bots are {', '.join(players)}."
        )
    try:
        verify(record)
    except RecordError as error:
        raise ImpossibleError(
            f"The record is not valid: {error}. Download the record again, or correct the file."
        ) from None
    done = [0]
    began = time.monotonic()

    def status() -> str:
        total = len(record.moves)
        left = time_left(done[0], total, began)
        return f"{done[0]} of {total} moves are analysed{left}"

    def note(plies: int, _total: int) -> None:
        done[0] = plies

    with progress(status, quiet=as_json):
        found = analyse(record, playouts, note)
    found = found.rated(places_of(record), forfeited_in(record))
    if as_json:
        print_json(found.as_json())
        return
    _print(record, found, bot, show_all=show_all)


def _print(record: Record, found: Analysis, bot: str, *, show_all: bool) -> None:
    names = names_of(record)
    steps = [name for _, name in steps_of(record)]
    listed = [each for each in found.decisions if not bot or names[each.seat] == bot]
    marked = [each for each in listed if show_all or each.mark in _MARKED]
    if marked:
        _print_decisions(marked, steps, names)
        least, most = (places(loss, record.seats) for loss in (MISTAKE_LOSS, BLUNDER_LOSS))
        print(
            "Places lost: how many places lower the bot ends on average, compared with the best "
            "move.\n± is the 95 % error bar. A mistake loses "
            f"{least:.2f} to {most:.2f} places, a blunder more. A loss\nwithin its error bar is no "
            "mistake. Marks are computed before the numbers are rounded."
        )
    else:
        print(f"No decision{f' of {bot}' if bot else ''} is a mistake or a blunder.")
    worst = sorted(listed, key=lambda each: -each.loss)[:_WORST]
    print(f"\nThe most expensive decisions{f' of {bot}' if bot else ''}:")
    print("(ply: the number of the move in the match. Plies and seats are numbered from 0.)")
    for each in worst:
        if each.loss > 0:
            move, best = (move_in_words(text, names) for text in (each.move, each.best))
            print(
                f"  {steps[each.ply]} (ply {each.ply}, seat {each.seat}), {names[each.seat]}: "
                f"“{move}” lost {_loss(each, record.seats)} places; the best move was “{best}”"
            )
    print(
        "\nEach bot's chance of the first place, computed from the cards in all hands. A "
        "bot\nat 0 % can hardly come first, but it can still gain or lose other places:"
    )
    table = new_table("after", *names)
    for when, chance in _some(_by_step(found.chances, steps)):
        add_row(table, when, *(percent(value) for value in chance.seats))
    print_table(table)
    middle = (record.seats + 1) / 2
    later, by_later = _LATER_CARDS[record.game]
    print(
        "\nHow many places each bot gained (+) or lost (-) by each cause. Each bot begins in the "
        f"middle, at place {middle:g}.\n"
        "- deal: by its seat and its first cards.\n"
        f"- {later}: {by_later}.\n"
        "- play: by its own moves, compared with the moves of a simple rule-of-thumb bot.\n"
        "- others: by the moves of the other bots.\n"
        "Two more columns:\n"
        "- place: the place at the end. Tied bots share the mean of their places.\n"
        "- lost: how many places its moves cost, compared with the best moves. A bot can play\n"
        "  better than the rule-of-thumb bot and still lose places here."
    )
    table = new_table("bot", "deal", later, "play", "others", "place", "lost", "marks")
    for total in found.totals:
        marks = [each.mark for each in found.decisions if each.seat == total.seat]
        counts = ", ".join(
            f"{marks.count(mark)} {mark}{'s' * (marks.count(mark) != 1)}"
            for mark in _MARKED
            if marks.count(mark)
        )
        parts = (total.deal, total.draws, total.play, total.others)
        cells = [signed(places(part, record.seats)) for part in parts]
        cells[2] += f" ± {places(2 * total.play_error, record.seats):.1f}"
        place = f"{1 + places(1 - total.result, record.seats):g}"
        lost = f"{places(total.loss, record.seats):.1f}"
        add_row(table, names[total.seat], *cells, place, lost, counts)
    print_table(table)
    print()
    for total in found.totals:
        print(f"{names[total.seat]} {_summary(found, total)}")


def _summary(found: Analysis, total: Total) -> str:
    parts = {
        "luck": total.luck,
        "its own moves": total.play,
        "the moves of others": total.others,
    }
    return found.in_words(total, parts)


def _print_decisions(decisions: list[Decision], steps: list[str], names: tuple[str, ...]) -> None:
    table = new_table("when", "bot", "move", "best", "places lost", "mark")
    for each in decisions:
        note = f"{each.mark} (by the referee)" if each.fault else each.mark
        add_row(
            table,
            *(steps[each.ply], names[each.seat]),
            *(move_in_words(text, names) for text in (each.move, each.best)),
            *(_loss(each, len(names)), note),
        )
    print_table(table)


def _loss(decision: Decision, seats: int) -> str:
    """Return the loss of a decision in places."""
    lost = places(decision.loss, seats)
    if decision.is_exact:
        return f"{lost:.2f} (exact)"
    return f"{lost:.2f} ± {places(ERRORS * decision.error, seats):.2f}"


def _by_step(chances: Sequence[Chance], steps: list[str]) -> list[tuple[str, Chance]]:
    """Return the chances after the deal, and after each step, with its name."""
    last = {steps[each.ply - 1] if each.ply else "the deal": each for each in chances}
    return list(last.items())


def _some(items: list[_Item], most: int = 14) -> list[_Item]:
    """Return at most so many items, evenly spaced, the last one among them."""
    every = -(-len(items) // most)
    return [*items[:-1:every], items[-1]]

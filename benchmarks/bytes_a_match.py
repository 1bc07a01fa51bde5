"""The size of a finished match in the database, by table, column and index.

Usage: python bytes_a_match.py [--matches 2000] [--seats 4] [--game partridge] [--budget 600]
       [--archive]

For each game, the bots of a ladder play so many matches through the league's own code: a round is
opened, its matches are claimed, played and finished, the round is applied. After `VACUUM FULL`, all
bytes that the tables of matches have grown by (rows, indexes, TOAST) are divided by the number of
matches. Tables
of rounds and of the ledger grow by block; they are shown, and do not count in the budget. With
--archive, all rounds then move to the archive, and the sizes of rows and files are shown again. The
exit status is 1 if a game is over the budget.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import serving

RULES = {"twelve-days": "calliope", "partridge": "eagle"}
BOTS = 24
BLOCKS = 48
"""Blocks of a round."""
COUNTED = (
    "league_match",
    "league_matchseat",
    "league_livemove",
    "league_turn",
    "league_seatlog",
)
BESIDE = ("league_round", "league_block", "league_blockbot", "league_blockentry")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--matches", type=int, default=2000, help="of each game")
    parser.add_argument("--seats", type=int, default=4)
    parser.add_argument("--budget", type=int, default=600)
    parser.add_argument("--game", choices=RULES, help="one game, instead of both")
    parser.add_argument("--archive", action="store_true", help="measure archived matches too")
    options = parser.parse_args()
    if options.game is None:  # each in its own process, with its own league
        return max(subprocess.call([*sys.orig_argv, "--game", game]) for game in RULES)
    with serving.league():
        empty = sizes()
        matches = fill(options.game, options.seats, options.matches)
        size = report(options.game, options.seats, matches, empty)
        if options.archive:
            archive(matches)
            report(options.game, options.seats, matches, empty)
    print(f"budget{'':28}{options.budget:8} bytes", flush=True)
    return int(size > options.budget)


def fill(game: str, seats: int, matches: int) -> int:
    """Play matches on a ladder of house bots; return their number."""
    from bots_sdk.reference import thumb_bot
    from league import play, ratings
    from league.competitions.rounds import open_round
    from league.models import Bot, BotVersion, Ladder, Match

    ladder = Ladder.objects.create(slug=game, title=game, game=game, rules=RULES[game], seats=seats)
    bots = []
    for number in range(BOTS):
        bot = Bot.objects.create(name=f"reference-{number:02}", kind=Bot.Kind.HOUSE)
        bot.current = BotVersion.objects.create(bot=bot, number=1)
        bot.save()
        bots.append(bot.pk)
    number = 0
    while Match.objects.finished().count() < matches:
        tables = tables_of(bots, seats, number)
        round_ = open_round(ladder=ladder, tables=tables, seed=number.to_bytes(32, "big"))
        while due := play.claim_due_hosted():
            for match_id in due:
                play.play_match(match_id, players=lambda seating: [thumb_bot.choose] * len(seating))
        ratings.apply_round(round_.pk)
        number += 1
    return Match.objects.finished().count()


def archive(matches: int) -> None:
    """Move all rounds to the archive; print the bytes of the files, and the times."""
    from django.conf import settings
    from django.test import override_settings
    from django.utils import timezone

    from league import archive_files, play
    from league.models import Ladder, Match
    from league.ratings import recompute

    settings.ARCHIVE_DAYS = 1
    place: dict[str, Any] = {"BACKEND": "league.archive_files.ArchiveDirectory"}
    with ExitStack() as stack:
        directory = stack.enter_context(TemporaryDirectory())
        place["OPTIONS"] = {"location": directory}
        stack.enter_context(override_settings(STORAGES=settings.STORAGES | {"archive": place}))
        began = time.perf_counter()
        run = play.archive_due(timezone.now() + timedelta(days=2), max_rounds=None)
        took = time.perf_counter() - began
        state = play.archive_state()
        print(f"\narchived: {state.rounds} rounds in {took:.2f} s, faults: {run.faults}")
        print(f"{'files, a match':34}{state.size / matches:8.1f} bytes")
        began = time.perf_counter()
        differences = [recompute(ladder) for ladder in Ladder.objects.all()]
        took = time.perf_counter() - began
        print(f"recompute from files: {took:.2f} s, differences: {differences}")
        archive_files.forget()
        one = Match.objects.filter(archived=True).latest("pk")
        began = time.perf_counter()
        _ = one.record
        print(f"first record of a file: {1000 * (time.perf_counter() - began):.1f} ms")


def tables_of(bots: Sequence[int], seats: int, number: int) -> list[Any]:
    """Return the tables of a round: neighbours in an order that each round turns by some bots."""
    from engine.pairing import Table

    found = []
    for at in range(BLOCKS):
        step = 1 + (number + at) % 5
        chosen = {bots[(at + number + step * seat) % len(bots)] for seat in range(seats)}
        if len(chosen) == seats:
            found.append(Table(tuple(sorted(chosen)), True))
    return found


def sizes() -> dict[str, int]:
    """Return the bytes of each table of the league with all that belongs to it, and of indexes."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'league%'"
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f"VACUUM (FULL, ANALYZE) {name}")
        cursor.execute(
            "SELECT relname, CASE relkind WHEN 'r' THEN pg_total_relation_size(oid)"
            " ELSE pg_relation_size(oid) END"
            " FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace"
        )
        return dict(cursor.fetchall())


def report(game: str, seats: int, matches: int, empty: dict[str, int]) -> float:
    """Print what a match adds to each table; return the bytes that count."""
    found = sizes()
    print(f"\n{game} {RULES[game]}, {seats} seats, {matches} matches")
    total = 0.0
    for names, counts in ((COUNTED, True), (BESIDE, False)):
        for name in names:
            if name not in found:
                continue
            size = (found[name] - empty[name]) / matches
            print(f"{name:34}{size:8.1f}{'' if counts else '  (beside)'}")
            if counts:
                total += size
                show_parts(name, matches, found, empty)
    print(f"{'a match':34}{total:8.1f} bytes")
    return total


def show_parts(table: str, matches: int, found: dict[str, int], empty: dict[str, int]) -> None:
    """Print the bytes of the columns and indexes of a table for a match."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
            " AND NOT attisdropped ORDER BY attnum",
            [table],
        )
        columns = [name for (name,) in cursor.fetchall()]
        sums = ", ".join(f"coalesce(sum(pg_column_size({name})), 0)" for name in columns)
        cursor.execute(f"SELECT {sums}, pg_relation_size('{table}') FROM {table}")
        *taken, rows = cursor.fetchone()
        cursor.execute(
            "SELECT relname FROM pg_class JOIN pg_index ON indexrelid = oid"
            " WHERE indrelid = %s::regclass",
            [table],
        )
        indexes = [name for (name,) in cursor.fetchall()]
    for name, size in zip(columns, taken, strict=True):
        if size:
            print(f"    {name:30}{size / matches:8.1f}")
    print(f"  rows with headers{'':15}{rows / matches:8.1f}")
    for name in indexes:
        if size := found[name] - empty[name]:
            print(f"  index {name:26}{size / matches:8.1f}")


if __name__ == "__main__":
    sys.exit(main())

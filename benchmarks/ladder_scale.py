"""The time and memory to fit a large ladder and to draw and open its next round, database included.

Usage: python benchmarks/ladder_scale.py [--sizes 1000 10000] [--blocks 667] [--rounds 100]

A ladder of N hosted bots has packed results of so many blocks for each bot. *Fit* reads the packs,
fits them and writes all results. *Draw* chooses the tables of the next round; *open* includes the
draw and stores the round with its blocks and matches. Times are seconds of the clock and, in
brackets, processor time of this process; the rest is PostgreSQL's. Memory is the largest resident
set of this process; a row of the table runs in the same process as the rows above it. The reference
is `for _ in range(10**7): pass`.
"""

import argparse
import resource
import sys
import time
import zlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import serving

if TYPE_CHECKING:
    from engine.pairing import Table
    from league.models import Ladder

SEATS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--blocks", type=int, default=667, help="blocks of each bot")
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    with serving.league():
        print(f"plain loop of 10**7 passes: {timed(plain_loop)} s")
        for size in options.sizes:
            print(measure(size, options.blocks, options.rounds), flush=True)


def measure(size: int, blocks: int, rounds: int) -> str:
    """Return a row of the table."""
    from league import competitions, ratings
    from league.models import Ladder

    last = fill(size, blocks, rounds)
    ladder = Ladder.objects.get(slug=f"scale-{size}")
    fitting = timed(lambda: ratings.fit_round(last))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    drawing = timed(lambda: draw(ladder))
    opening = timed(lambda: competitions.open_ladder_round(ladder.pk))
    tables = ladder.rounds.latest("number").blocks.count()
    return (
        f"{size:6} bots: fit {fitting} s, {memory:.0f} MB; draw {drawing} s, "
        f"open {opening} s, {tables} blocks"
    )


def draw(ladder: "Ladder") -> list["Table"]:
    """Choose the tables of a ladder's next round."""
    from engine.pairing import ladder_round
    from league.competitions.ladder_rounds import _entrants

    return ladder_round(_entrants(ladder), SEATS, bytes(32), allow_unrated=False)


def timed(work: Callable[[], object]) -> str:
    """Return the seconds of a call, which must do something, and the processor time in brackets."""
    began, used = time.perf_counter(), time.process_time()
    if not work():
        sys.exit("nothing was done")
    return f"{time.perf_counter() - began:.2f} ({time.process_time() - used:.2f})"


def plain_loop() -> bool:
    for _ in range(10**7):
        pass
    return True


def fill(size: int, blocks: int, rounds: int) -> int:
    """Create a ladder with packed results; return the id of its last round."""
    import numpy as np
    from django.contrib.auth.models import User
    from django.utils import timezone

    from benchmarks.performance_fit import synthetic
    from league.models import Bot, BotVersion, Ladder, LadderEntry, PackedResults, Round, Standing

    ladder = Ladder.objects.create(
        slug=f"scale-{size}", title="Scale", game="twelve-days", rules="calliope", seats=SEATS
    )
    owners = User.objects.bulk_create(User(username=f"o-{size}-{i}") for i in range(size))
    bots = Bot.objects.bulk_create(
        Bot(name=f"scale-{size}-{i}", kind="hosted", owner=owner) for i, owner in enumerate(owners)
    )
    versions = BotVersion.objects.bulk_create(
        BotVersion(bot=bot, number=1, state="ready") for bot in bots
    )
    for bot, version in zip(bots, versions, strict=True):
        bot.current = version
    Bot.objects.bulk_update(bots, ["current"], batch_size=1000)
    LadderEntry.objects.bulk_create(LadderEntry(ladder=ladder, bot=bot) for bot in bots)
    an_hour_ago = timezone.now() - timedelta(hours=1)  # so that no pause holds the next round
    made = Round.objects.bulk_create(
        Round(
            ladder=ladder,
            number=i,
            seed=bytes(32),
            commitment="",
            k_schedule={},
            applied_at=an_hour_ago,
            applied_number=i,
        )
        for i in range(1, rounds + 1)
    )
    tables, shares = synthetic(size, blocks)
    ids = np.array([bot.pk for bot in bots])[tables]
    order = np.argsort(ids, axis=1)  # the packs list bots by id
    first, second = np.triu_indices(SEATS, 1)
    half_points = np.zeros((len(ids), SEATS, SEATS), np.int64)
    halves = np.rint(2 * SEATS * shares).astype(np.int64)
    half_points[:, first, second], half_points[:, second, first] = halves, 2 * SEATS - halves
    rows = np.arange(len(ids))[:, None]
    columns = [
        ids[rows, order],
        np.ones_like(ids),
        np.full_like(ids, 40),
        np.zeros_like(ids),
        half_points[rows, order[:, first], order[:, second]],
        np.full((len(ids), 1), SEATS),
    ]
    numbers = np.concatenate(columns, axis=1).astype("<i8")
    PackedResults.objects.bulk_create(
        PackedResults(round=round_, seats=SEATS, packed=zlib.compress(part.tobytes(), 6))
        for round_, part in zip(made, np.array_split(numbers, rounds), strict=True)
    )
    played = np.bincount(tables.ravel(), minlength=size).tolist()
    ratings = 1_500_000 + np.random.default_rng(2).normal(0, 200_000, size).astype(int)
    Standing.objects.bulk_create(
        Standing(
            ladder=ladder,
            bot=bot,
            rating=rating,
            blocks=count,
            version=1,
            matches=SEATS * count,
        )
        for bot, count, rating in zip(bots, played, ratings.tolist(), strict=True)
    )
    return made[-1].pk


if __name__ == "__main__":
    main()

"""Recompute a ladder from its export, with Python alone.

`python3 recompute_ladder.py EXPORT.jsonl` reads seats, scores and faults from the file. It compares
seeds with their commitments, deals with the seeds, and all ratings with the formula, to the last
thousandth. Rounds stand in the order in which the ladder applied them. If the league's package
`engine` is installed, the moves of each match must lead to its scores and places by the rules.
"""

import json
import sys
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from hmac import digest
from itertools import combinations
from typing import Any

try:
    from engine.record import read as read_record
    from engine.record import verify

    has_engine = True
except ImportError:
    has_engine = False

# Of the line and the round that are being read.
number, terms, seed = 0, dict[str, Any](), b""
standings: dict[str, tuple[int, int, int]] = {}


def check(holds: object, otherwise: str) -> None:
    if not holds:
        sys.exit(f"line {number}: {otherwise}")


def losses(seating: list[str], record: Any) -> dict[str, int]:
    """Return a number for each bot, lower for a better place; a forfeit, by 3 faults, is last."""
    faults, scores = [fault["seat"] for fault in record["faults"]], record["scores"]
    places = [1 + sum(other > score for other in scores) for score in scores]
    check(record["places"] == places, "the places of a match don't follow from its scores")
    lost = [-score if faults.count(i) < 3 else 9999 for i, score in enumerate(scores)]
    return dict(zip(seating, lost, strict=True))


def rate(block: Any, start: dict[str, tuple[int, int, int]]) -> dict[str, int]:
    """Return each bot's change in a block, given (rating, blocks, version) before the round."""
    n, bots, matches = len(block["bots"]), sorted(block["bots"]), block["matches"]
    seats = zip(*(match["seating"] for match in matches), strict=True)
    check([sorted(seat) for seat in seats] == [bots] * n, "not every bot sits once in each seat")
    for index, match in enumerate(matches if seed else []):
        block_seed = digest(seed, b"block/%d" % block["block"], "sha256")
        deal = digest(block_seed, b"deal/%d" % (0 if block["duplicate"] else index), "sha256")
        check(match["record"]["deal_seed"] == deal.hex(), "a deal does not follow from the seed")
    steps, gain = [*terms["k_steps"], (sys.maxsize, terms["k_settled"])], dict.fromkeys(bots, 0)
    k = {bot: next(k for below, k in steps if start[bot][1] < below) for bot in bots}
    lost = [losses(match["seating"], match["record"]) for match in matches]
    for i, j in combinations(bots, 2):
        won = Fraction(sum((of[i] < of[j]) + (of[i] <= of[j]) for of in lost), 2 * n)
        expected = round(1 / (1 + 10 ** (Decimal(start[j][0] - start[i][0]) / 400_000)), 9)
        delta = round(Fraction(500 * (k[i] + k[j]), n - 1) * (won - Fraction(expected)))
        gain[i], gain[j] = gain[i] + delta, gain[j] - delta
    return gain


def apply(blocks: Any) -> dict[str, list[int]]:
    """Apply a round's blocks to the standings; return each bot's ratings before and after."""
    start: dict[str, tuple[int, int, int]] = {}
    for bot, version in sorted(pair for block in blocks for pair in block["bots"].items()):
        rating, played, known = standings.get(bot, (1_500_000, 0, version))
        played = min(played, terms["new_version_blocks"]) if version != known else played
        start[bot] = standings[bot] = (rating, played, version)
    for block in blocks:
        gain = rate(block, start)
        check(block["deltas"] == gain, f"block {block['block']} must change ratings by {gain}")
        for bot, (rating, played, version) in [(bot, standings[bot]) for bot in gain]:
            standings[bot] = (rating + gain[bot], played + 1, version)
    return {bot: [start[bot][0], standings[bot][0]] for bot in start}


def check_moves(record: Any) -> None:
    """Play a match again by its deal and moves."""
    try:
        verify(read_record(json.dumps(record).encode()))
    except ValueError as error:
        check(False, f"the moves of a match don't lead to its result: {error}")


def check_file(path: str) -> str:
    """Check all lines of an export; return what was found right."""
    global number, terms, seed
    shown, blocks, line = dict[str, tuple[int, int, int]](), dict[int, Any](), dict[str, Any]()
    read, before = sha256(), ""
    rounds = seeds = matches = 0
    for number, text in enumerate(open(path, "rb"), 1):
        line, before = json.loads(text), read.hexdigest()
        read.update(text)
        if line["type"] == "round":
            terms, blocks, seed = line, {}, bytes.fromhex(line["seed"] or "")
            rounds, seeds = rounds + 1, seeds + bool(seed)
            check(
                line["applied_number"] == rounds,
                "the rounds are not in the order in which the ladder applied them",
            )
            committed = not seed or sha256(seed).hexdigest() == line["commitment"]
            check(committed, "the seed does not have the published hash (commitment)")
        elif line["type"] == "block" and not line["void"]:
            check(line["block"] not in blocks, "a block is listed twice")
            blocks[line["block"]] = line
            for match in line["matches"] if has_engine else []:
                check_moves(match["record"])
                matches += 1
        elif line["type"] == "applied":
            rated = [block for block in blocks.values() if block["rated"]]
            check(apply(rated) == line["ratings"], "the ratings before and after are wrong")
        elif line["type"] == "standing":
            shown[line["bot"]] = (line["rating"], line["blocks"], line["version"])
    check(line.get("sha256") == before, "lines were changed or are missing")
    check(line["complete"], "the ladder was corrected during the download: get the file again")
    check(shown == standings, "the standings do not follow from the rounds")
    moves = (
        f"all moves of {matches} matches"
        if has_engine
        else "no moves: the package engine is not installed"
    )
    return (
        f"Right: {len(shown)} bots, {rounds} rounds; the seeds of {seeds} are public. "
        f"Checked {moves}."
    )


try:
    print(check_file(*sys.argv[1:]))
except OSError as error:
    sys.exit(f"{error.filename} can't be read: {error.strerror}")
except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
    if len(sys.argv) != 2:
        sys.exit("usage: recompute_ladder.py EXPORT.jsonl")
    what = " ".join(f"{type(error).__name__}: {error}".split())
    sys.exit(f"line {number}: this is not the export of a ladder ({what[:200]})")

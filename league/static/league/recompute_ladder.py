#!/usr/bin/env python3
"""Recompute a ladder from its export and check every rating to the last digit.

    python3 recompute_ladder.py EXPORT.jsonl        (needs Python alone; - reads standard input)

It takes from the file only who played what: seating, versions, scores, places and faults of each
record. It checks that seeds are those committed to and deals come from them, works out all ratings
by the published formula, and compares. That the moves of a record lead to its scores is for
`python -m engine verify` to check.
"""

import hmac
import json
import sys
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from hashlib import sha256
from itertools import combinations

DIGITS = Context(prec=40, rounding=ROUND_HALF_EVEN)
LN_10 = DIGITS.ln(Decimal(10))


def expectation(rating, other):
    """Return 1 / (1 + 10 ** ((other - rating) / 400)), rounded to 9 decimals; in thousandths."""
    power = DIGITS.multiply(DIGITS.divide(Decimal(other - rating), Decimal(400_000)), LN_10)
    share = DIGITS.divide(Decimal(1), DIGITS.add(Decimal(1), DIGITS.exp(power)))
    return Fraction(DIGITS.quantize(share, Decimal("1e-9")))


def order(match):
    """Return where each bot of a match came in, to be compared; who forfeited is last."""
    record, n = match["record"], len(match["seating"])
    check(record["seats"] == n == len(set(match["seating"])), "not a bot a seat")
    places = [1 + sum(other > score for other in record["scores"]) for score in record["scores"]]
    check(record["places"] == places, f"the places of match {match['id']} are not its scores'")
    faults = [fault["seat"] for fault in record["faults"]]
    rated = [(1, 0) if faults.count(seat) >= 3 else (0, places[seat]) for seat in range(n)]
    return dict(zip(match["seating"], rated, strict=True))


def check_deals(round_, block):
    """Check that each bot sat in each seat once, on the deals that the round's seed decides."""
    for seats in zip(*(match["seating"] for match in block["matches"]), strict=True):
        check(sorted(seats) == sorted(block["bots"]), "a bot not once in each seat")
    if round_["seed"] is None:
        return
    seed = derive(bytes.fromhex(round_["seed"]), f"block/{block['block']}")
    for number, match in enumerate(block["matches"]):
        deal = derive(seed, f"deal/{0 if block['duplicate'] else number}").hex()
        check(match["record"]["deal_seed"] == deal, f"another deal in match {match['id']}")


def derive(key, message):
    """Return the seed that another one and a message give."""
    return hmac.digest(key, message.encode(), "sha256")


def rate(round_, block, start, gains):
    """Add what a block gives its bots, and compare with what the ledger says it gave."""

    def k(bot):
        return next((k for to, k in round_["k_steps"] if start[bot][1] < to), round_["k_settled"])

    orders, bots = [order(match) for match in block["matches"]], sorted(block["bots"])
    deltas = dict.fromkeys(bots, 0)
    for i, j in combinations(bots, 2):
        halves = sum((o[i] < o[j]) + (o[i] <= o[j]) for o in orders)
        surplus = Fraction(halves, 2 * len(orders)) - expectation(start[i][0], start[j][0])
        delta = round(Fraction(1000 * (k(i) + k(j)), 2 * (len(bots) - 1)) * surplus)
        deltas[i] += delta
        deltas[j] -= delta
    check(block["deltas"] == deltas, f"the block gave {deltas}, not {block['deltas']}")
    for bot, delta in deltas.items():
        gains.setdefault(bot, []).append(delta)


def apply(round_, blocks, standings):
    """Apply a round's blocks at once to standings {bot: [rating, blocks, version]}."""
    start, gains = {}, {}
    for block in blocks:
        for bot, version in block["bots"].items():
            rating, played, known = start.get(bot) or standings.get(bot, (1_500_000, 0, version))
            if version > known:
                played = min(played, round_["new_version_blocks"])
            start[bot] = (rating, played, max(version, known))
    for block in blocks:
        check_deals(round_, block)
        rate(round_, block, start, gains)
    for bot, deltas in gains.items():
        rating, played, version = start[bot]
        standings[bot] = (rating + sum(deltas), played + len(deltas), version)
    return {bot: [start[bot][0], standings[bot][0]] for bot in gains}


def check(holds, otherwise):
    """Stop where something is not as it must be."""
    if not holds:
        raise ValueError(otherwise)


def recompute(lines):
    """Return what was checked, in a line; raise ValueError where the file is wrong."""
    digest, standings, shown, round_, last = sha256(), {}, {}, {}, -1
    blocks, rounds, seeds = [], 0, 0
    for number, data in lines:
        line = json.loads(data)
        kind = line["type"]
        check((kind == "ladder") == (number == 0), "the first line alone is the ladder's")
        if kind == "ladder":
            check(line["format"] == "twelfth-night-ladder/1", "an unknown format")
            ladder = line
        elif kind == "round":
            rounds += 1
            check(line["round"] == rounds and not blocks, f"round {rounds} is missing")
            round_, last, seeds = line, -1, seeds + (line["seed"] is not None)
            seed = bytes.fromhex(line["seed"] or "")
            check(not seed or sha256(seed).hexdigest() == line["commitment"], "another seed")
        elif kind == "block":
            check(line["round"] == rounds and line["block"] > last, "a block in a wrong place")
            last = line["block"]
            counts = line["rated"] and not line["void"]
            check(counts or not line["deltas"], "a block that does not count gives ratings")
            blocks += [line] if counts else []
        elif kind == "applied":
            ratings = apply(round_, blocks, standings)
            check(line["ratings"] == ratings, f"the ratings should be {ratings}")
            check(sum(s[0] - 1_500_000 for s in standings.values()) == 0, "the sum is off")
            blocks = []
        elif kind == "standing":
            shown[line["bot"]] = (line["rating"], line["blocks"], line["version"])
        else:
            check(line["complete"], "the ladder was corrected meanwhile: get the file again")
            check((line["lines"], line["sha256"]) == (number, digest.hexdigest()), "changed lines")
            check(rounds == ladder["rounds"] and not blocks, "rounds are missing")
            check(shown == standings, "the standings are not what the rounds come to")
            return (
                f"{ladder['ladder']}, revision {ladder['revision']}: the ratings of {len(shown)} "
                f"bots after {rounds} rounds are what their matches give; the seeds of {seeds} "
                "rounds are public, and right."
            )
        digest.update(data)
    raise ValueError("the file ends too early")


def main():
    """Read the file named on the command line; exit 1 where it is wrong."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    at = [0, b""]  # number and text of the line being read

    def numbered(source):
        for at[0], at[1] in enumerate(source):
            yield at

    try:
        with sys.stdin.buffer if sys.argv[1] == "-" else open(sys.argv[1], "rb") as source:
            print(recompute(numbered(source)))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        sys.exit(f"line {at[0] + 1}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()

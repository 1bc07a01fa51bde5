"""Checks of a league that has settled after kills."""

import json
import time

from benchmarks.killing.bots import Bots
from benchmarks.killing.league import League

SETTLE_SECONDS = 180.0

_PAUSE = "from league.models import Ladder; Ladder.objects.update(paused=True)"
_LEFT = """
import json
from league.models import Match, Round, Tournament
print(json.dumps({
    "matches": Match.objects.unfinished().count(),
    "rounds": Round.objects.filter(applied_at=None).count(),
    "tournaments": list(Tournament.objects.filter(rounds__applied_at=None).distinct()
                        .values_list("id", flat=True)),
}))
"""
_CHECK = """
import collections, json, sys
from league.models import Block, Ladder, Match, Standing
accepted = collections.defaultdict(list)
for match, bot, turn, move in json.load(open({moves!r})):
    accepted[match].append((bot, turn, move))
found, counts = [], collections.Counter()
for match in Match.objects.finished().iterator(chunk_size=200):
    record = match.record
    seats = dict(match.seating.values_list("seat", "bot__name"))
    own = collections.defaultdict(collections.Counter)
    for seat, move in record.moves:
        own[seats[seat]][move] += 1
    counts["matches"] += 1
    counts["moves"] += len(record.moves)
    for fault in record.faults:
        where = f"match {{match.pk}}, ply {{fault.ply}}"
        found.append(f"{{where}}: {{fault.kind}} of {{seats[fault.seat]}}")
    for bot, turn, move in accepted.pop(match.pk, ()):
        counts["compared"] += 1
        own[bot][move] -= 1
        if own[bot][move] < 0:
            where = f"match {{match.pk}}, turn {{turn}} of {{bot}}"
            found.append(f"{{where}}: {{move}} is not in the record")
for match, moves in accepted.items():
    state = Match.objects.filter(pk=match).values_list("status", flat=True).first()
    found.append(f"match {{match}} is {{state}}, with {{len(moves)}} accepted moves")
for block in Block.objects.filter(state=Block.State.VOID):
    found.append(f"block {{block.pk}} is void")
for match in Match.objects.filter(status=Match.Status.VOID, block=None):
    found.append(f"match {{match.pk}} is void")
for ladder in Ladder.objects.all():
    ratings = list(Standing.objects.filter(ladder=ladder).values_list("rating", flat=True))
    if sum(ratings) != 1_500_000 * len(ratings):
        found.append(f"{{ladder.slug}}: {{len(ratings)}} ratings sum to {{sum(ratings)}}")
    counts[f"rounds of {{ladder.slug}}"] = ladder.rounds.exclude(applied_at=None).count()
    if ladder.alarm:
        found.append(f"{{ladder.slug}}: alarm: {{ladder.alarm}}")
print(json.dumps([found, counts]))
"""


def settle(league: League, found: list[str]) -> None:
    """Pause the ladders, and wait until all matches and rounds are over and the league is ready."""
    league.await_ready()
    league.manage(_PAUSE)
    began = time.monotonic()
    while True:
        left = json.loads(league.manage(_LEFT))
        if not left["matches"] and not left["rounds"]:
            break
        if time.monotonic() - began > SETTLE_SECONDS:
            found.append(f"not settled after {SETTLE_SECONDS:.0f} s: {left}")
            break
        time.sleep(2)
    print(f"settled after {time.monotonic() - began:.0f} s: {left}", flush=True)
    if (readiness := league.readiness()) != "ready":
        found.append(f"/readyz: {readiness}")


def violations(league: League, bots: Bots) -> list[str]:
    """Return what does not hold of the moves, records, blocks and ratings."""
    moves = league.directory / "accepted.json"
    bots.save(moves)
    found, counts = json.loads(league.manage(_CHECK.format(moves=str(moves))))
    print(f"checked: {counts}")
    recomputed = league.manage("", "recompute")
    print(recomputed.strip())
    found += [
        line for line in recomputed.splitlines() if "ratings" in line and ", 0 diff" not in line
    ]
    return [*found, *bots.problems]

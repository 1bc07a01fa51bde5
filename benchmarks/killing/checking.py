"""Checks of a league that has settled after kills."""

import json
import time
from collections.abc import Mapping

from benchmarks.killing.bots import Bots
from benchmarks.killing.league import League

_STUCK_SECONDS = 180.0
_MAX_SETTLE_SECONDS = 1200.0

_PAUSE = "from league.models import Ladder; Ladder.objects.update(paused=True)"
_LEFT = """
import json
from league.models import Match, Round, Tournament, VoidMark, BotVersion, Comparison
print(json.dumps({
    "matches": Match.objects.unfinished().count(),
    "rounds": Round.objects.filter(applied_at=None).count(),
    "tournaments": Tournament.objects.filter(title__startswith="Chaos ")
                   .exclude(state__in=("finished", "cancelled")).count(),
    "comparisons": Comparison.objects.running().count(),
    "corrections": VoidMark.objects.pending().count(),
    "checks": BotVersion.objects.filter(state="checking").count(),
}))
"""
_CHECK = """
import collections, json, sys
from django.db.models import Q
from engine.rating import sprt
from league.models import (Block, Comparison, Ladder, LiveMove, Match, ModerationEntry, Standing,
                           BotVersion, Token, Tournament, Turn, VoidMark)
from league.ratings.match_results import match_result
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
    # Placement blocks that have not begun become void when their bot gets a new version.
    begun = block.matches.filter(Q(plies__gt=0) | Q(losses__gt=0) | Q(failures__gt=0)).exists()
    if "has another version now" in block.void_reason and not begun:
        counts["blocks of a version that was replaced"] += 1
    else:
        found.append(f"block {{block.pk}} is void: {{block.void_reason}}")
for match in Match.objects.filter(status=Match.Status.VOID, block=None, swap_block=None):
    found.append(f"match {{match.pk}} is void")
for match in Match.objects.filter(status=Match.Status.VOID).exclude(swap_block=None):
    ended = match.swap_block.comparison.state != "running"
    if not ended or "comparison ended" not in match.void_reason:
        found.append(f"match {{match.pk}} of a comparison is void: {{match.void_reason}}")
for name, rows in {{
    "open turns": Turn.objects.open(), "moves of live matches": LiveMove.objects.all(),
    "leases": Match.objects.exclude(lease=None),
}}.items():
    if rows.exists():
        found.append(f"{{rows.count()}} {{name}} are left: {{list(rows.values()[:3])}}")
for comparison in Comparison.objects.all():
    counts["comparisons"] += 1
    numbers = list(comparison.blocks.order_by("number").values_list("number", flat=True))
    if numbers != list(range(len(numbers))):
        found.append(f"comparison {{comparison.pk}}: blocks {{numbers}}")
    for block in comparison.blocks.all():
        matches = list(block.matches.order_by("number"))
        if [match.number for match in matches] != [0, 1]:
            found.append(f"comparison {{comparison.pk}}: block {{block.number}}: {{matches}}")
        elif block.difference is not None:
            counts["swap blocks"] += 1
            played = [(match_result(match, of_versions=True), match.record) for match in matches]
            again = sprt.swap_result(played, comparison.new_id, comparison.old_id)
            if again != sprt.SwapResult(block.difference, block.same_moves):
                found.append(f"comparison {{comparison.pk}}: block {{block.number}}: {{again}}")
for ladder in Ladder.objects.all():
    numbers = list(ladder.revisions.order_by("number").values_list("number", flat=True))
    counts["corrections"] += len(numbers)
    if numbers != list(range(2, ladder.revision + 1)):
        found.append(f"{{ladder.slug}}: revision {{ladder.revision}}, corrections {{numbers}}")
    applied = list(ladder.rounds.exclude(applied_at=None).order_by("applied_number")
                   .values_list("applied_number", flat=True))
    if applied != list(range(1, len(applied) + 1)):
        found.append(f"{{ladder.slug}}: applied numbers {{applied}}")
confirmed = json.loads({confirmed!r})
stored = {{
    "versions": BotVersion.objects.filter(bot__owner__username="comparer").count(),
    "comparisons": Comparison.objects.count(),
    "void marks": VoidMark.objects.count(),
    "decisions": ModerationEntry.objects.filter(action__in=("void-block", "restore-block")).count(),
    "tournaments": Tournament.objects.filter(title__startswith="Chaos ").count(),
    "short-lived tokens": Token.objects.filter(name="short-lived").count(),
}}
for name, number in confirmed.items():
    if stored.get(name) != number:
        found.append(f"{{name}}: {{number}} confirmed, {{stored.get(name)}} stored")
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
    """Pause the ladders, and wait until all matches and rounds are over and the league is ready.

    The wait ends with a fault if nothing changes for `_STUCK_SECONDS`.
    """
    league.await_ready()
    league.manage(_PAUSE)
    began = changed = time.monotonic()
    last = None
    while True:
        left = json.loads(league.manage(_LEFT))
        if left != last:
            last, changed = left, time.monotonic()
        if not any(left.values()):
            break
        waited = time.monotonic() - began
        if time.monotonic() - changed > _STUCK_SECONDS or waited > _MAX_SETTLE_SECONDS:
            found.append(f"not settled after {waited:.0f} s: {left}")
            break
        time.sleep(2)
    print(f"settled after {time.monotonic() - began:.0f} s: {left}", flush=True)
    if (readiness := league.readiness()) != "ready":
        found.append(f"/readyz: {readiness}")


def violations(league: League, bots: Bots, confirmed: Mapping[str, int]) -> list[str]:
    """Return what does not hold of the moves, records, blocks, ratings and comparisons.

    Args:
        league: a settled one.
        bots: which played in it.
        confirmed: numbers of rows that must be there, by name.
    """
    moves = league.directory / "accepted.json"
    bots.save(moves)
    script = _CHECK.format(moves=str(moves), confirmed=json.dumps(confirmed))
    found, counts = json.loads(league.manage(script))
    print(f"checked: {counts}")
    recomputed = league.manage("", "recompute")
    print(recomputed.strip())
    found += [
        line for line in recomputed.splitlines() if "ratings" in line and ", 0 diff" not in line
    ]
    return [*found, *bots.problems]

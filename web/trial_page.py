"""What the page of a trial shows: the result, the table and the bot's output."""

import hashlib
from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from engine import record
from league.bots.trials import YOU, Trial
from league.models import Match
from web.ordinals import ordinal
from web.table.replays import replay_steps
from web.table.tables import Table, parts_of, phases_of


def shown_trial(trial: Trial, number: int) -> dict[str, Any]:
    """Return the context of a trial that is done.

    Args:
        trial: with its result.
        number: of the step to show; the nearest one if there is no such step.
    """
    result = trial.result
    own = [
        (each["places"][each["seat"]], each["scores"][each["seat"]]) for each in result["matches"]
    ]
    places = [place for place, _ in own]
    return {
        "result": result,
        "you": YOU,
        "table": _table(trial, number),
        "played": len(own),
        "wins": places.count(1),
        "places": _places(places),
        "rows": [
            {
                "place": place,
                "score": score,
                "seat": each["seat"],
                "is_shown": at == result.get("shown"),
            }
            for at, ((place, score), each) in enumerate(zip(own, result["matches"], strict=True))
        ],
    }


def _places(places: Sequence[int]) -> str:
    """Return how often a bot had each place: "1st in 2 matches, 3rd in 1"."""
    counts = [(place, places.count(place)) for place in sorted({*places})]
    parts = [f"{ordinal(place)} in {count}" for place, count in counts]
    if parts:
        parts[0] += " match" if counts[0][1] == 1 else " matches"
    return ", ".join(parts)


def trial_phases(trial: Trial) -> dict[str, Any]:
    """Return all that the browser needs to replay the match that a trial shows, as JSON data."""
    found = record.read(trial.result["record"].encode())
    commitment = hashlib.sha256(found.deal_seed).hexdigest()
    return phases_of(found, trial.result["names"], commitment)


def _table(trial: Trial, number: int) -> Table | None:
    if not trial.result["record"]:
        return None
    found = record.read(trial.result["record"].encode())
    names = trial.result["names"]
    steps = replay_steps(found, names)
    number = min(max(number, 1), len(steps))
    source = reverse("web:trial-phases", args=[trial.id])
    match = Match(pk=0, game=found.game, rules=found.rules, seats=found.seats)  # never stored
    parts = parts_of(match)
    return Table(match, "replay", source, names, parts, steps, number)

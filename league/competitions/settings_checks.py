"""Checks of settings: one place for forms, API, admin, commands, and upkeep.

Those of bots are in `league.bots.settings_checks`.

Each function takes the proposed values of a whole row by field, and returns a problem for each
value that is not allowed: the field, and a text with the value and the allowed ones. The functions
read nothing from the database. So upkeep can also check rows that were written past all forms.
"""

import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from engine.deals import SEED_BYTES
from engine.errors import UnknownRulesError, listed, quote
from engine.games import catalogue
from engine.rating.elo import KSchedule
from league.models import EventSettings
from league.models.limits import (
    BANK_SECONDS_LIMITS,
    BLOCKS_PER_ROUND,
    ENTRY_HOURS,
    EVERY_HOURS,
    EXTRA_BLOCKS,
    IDLE_DAYS,
    MOVE_SECONDS_LIMITS,
    PAUSE_SECONDS,
    PERCENT,
    RANKED_FROM,
    SETTLED_BLOCKS,
    SWISS_ROUNDS,
    TABLES,
    Limits,
)
from league.models.settings_problems import Problem

Values = Mapping[str, Any]
Format = EventSettings.Format

EVENT_SETTINGS = tuple(field.name for field in EventSettings._meta.get_fields())
"""The names of the event settings, which a schedule copies to its tournaments."""

FURTHEST = timedelta(days=2 * 366)
"""The longest time from now to the start of a tournament or schedule."""
SHORTEST_ENTRY = timedelta(seconds=1)
"""The shortest time from the opening of entries to the start."""
MAX_TITLE = 80
MAX_SCHEDULE_TITLE = MAX_TITLE - len(", no. 100000")
"""Shorter, because a schedule's tournaments add their number."""
MAX_SLUG = 50
MAX_K_STEPS = 20
_K = Limits(1, 1000)
_BLOCKS_OF_K = Limits(1, 100_000)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


def ladder_problems(values: Values) -> list[Problem]:
    """Return the problems of a ladder's settings as a whole.

    Args:
        values: the fields of `Ladder`, all of them.
    """
    return [
        *_title_problems(values["title"]),
        *_slug_problems(values["slug"]),
        *_game_problems(values),
        *_number(values, "move_seconds", MOVE_SECONDS_LIMITS),
        *_number(values, "bank_seconds", BANK_SECONDS_LIMITS),
        *k_problems(values["k_schedule"]),
        *_number(values, "round_pause_seconds", PAUSE_SECONDS),
        *_number(values, "idle_pause_seconds", PAUSE_SECONDS),
        *_whole(values, "settled_blocks", SETTLED_BLOCKS),
        *_whole(values, "max_blocks_per_round", BLOCKS_PER_ROUND),
        *_whole(values, "random_percent", PERCENT),
        *_whole(values, "idle_days", IDLE_DAYS),
        *_whole(values, "ranked_from", RANKED_FROM),
    ]


def k_problems(stored: Any, field: str = "k_schedule") -> list[Problem]:
    """Return the problems of a K schedule as JSON: fields of `KSchedule`, all optional."""
    names = tuple(KSchedule.__dataclass_fields__)
    if not isinstance(stored, dict):
        return [Problem(field, f"{quote(stored)} is not an object; use {{}} for the defaults.")]
    if unknown := sorted(stored.keys() - set(names)):
        return [
            Problem(
                field, f"There is no field {quote(unknown[0])}; the fields are {listed(names)}."
            )
        ]
    problems = []
    for name, limits in (("settled", _K), ("new_version_blocks", Limits(0, _BLOCKS_OF_K.high))):
        if name in stored:
            problems += [
                Problem(field, f"{name}: {problem.text}")
                for problem in _whole(stored, name, limits)
            ]
    steps = stored.get("steps", [])
    if not isinstance(steps, list | tuple) or len(steps) > MAX_K_STEPS:
        return [
            *problems,
            Problem(field, f"steps must be a list of at most {MAX_K_STEPS} pairs [blocks, K]."),
        ]
    last = 0
    for step in steps:
        if not (isinstance(step, list | tuple) and len(step) == 2 and _is_step(*step)):
            problems.append(
                Problem(
                    field,
                    f"steps: {quote(step)} is not a pair [blocks, K] with blocks "
                    f"{_BLOCKS_OF_K} and K {_K}.",
                )
            )
        elif step[0] <= last:
            problems.append(
                Problem(
                    field,
                    f"steps: {quote(step[0])} blocks come after {last} blocks. Order the pairs by "
                    "blocks, smallest first, and use each number of blocks once.",
                )
            )
        else:
            last = step[0]
    return problems


def event_problems(values: Values) -> list[Problem]:
    """Return the problems of event settings, one by one and with each other.

    Args:
        values: the fields of `EventSettings`, all of them.
    """
    problems = []
    if values["format"] not in Format.values:
        problems.append(
            Problem(
                "format",
                f"There is no format {quote(values['format'])}; the formats are "
                f"{listed(Format.values)}.",
            )
        )
    for name, limits, empty in (
        ("blocks_per_table", BLOCKS_PER_ROUND, True),
        ("swiss_rounds", SWISS_ROUNDS, True),
        ("max_tables", TABLES, False),
        ("extra_blocks", EXTRA_BLOCKS, False),
    ):
        if not (empty and values[name] is None):
            problems += _whole(values, name, limits)
    if not problems:
        problems += _contradictions(values)
    return problems


def time_problems(values: Values, now: datetime) -> list[Problem]:
    """Return the problems of the times of a tournament that an organiser plans or moves."""
    opens_at, starts_at = values["entries_open_at"], values["starts_at"]
    if starts_at <= now:
        return [Problem("starts_at", f"{_shown(starts_at)} has passed; choose a later time.")]
    if starts_at > now + FURTHEST:
        return [
            Problem(
                "starts_at",
                f"{_shown(starts_at)} is too far; choose a time in the next two years.",
            )
        ]
    if opens_at > starts_at - SHORTEST_ENTRY:
        return [
            Problem(
                "entries_open_at",
                f"{_shown(opens_at)} is not before the start at {_shown(starts_at)}; entries must "
                "open before the start.",
            )
        ]
    if opens_at < now - FURTHEST:
        return [
            Problem(
                "entries_open_at",
                f"{_shown(opens_at)} is more than two years ago; choose a later time.",
            )
        ]
    return []


def tournament_problems(values: Values) -> list[Problem]:
    """Return the problems of a stored tournament, whatever time it is."""
    problems = [*_title_problems(values["title"]), *event_problems(values)]
    if values["entries_open_at"] > values["starts_at"]:
        problems.append(
            Problem(
                "entries_open_at",
                f"{_shown(values['entries_open_at'])} is after the start at "
                f"{_shown(values['starts_at'])}.",
            )
        )
    if (size := len(bytes(values["seed"]))) != SEED_BYTES:
        problems.append(Problem("seed", f"The seed has {size} bytes, not {SEED_BYTES}."))
    return problems


def schedule_problems(values: Values) -> list[Problem]:
    """Return the problems of a schedule: its settings, and when its tournaments start."""
    problems = [
        *_title_problems(values["title"], MAX_SCHEDULE_TITLE),
        *event_problems(values),
    ]
    weekly = (values["weekday"], values["time_of_day"])
    if values["every_hours"] is not None:
        problems += _whole(values, "every_hours", EVERY_HOURS)
        if weekly != (None, None):
            problems.append(
                Problem(
                    "every_hours",
                    "Choose either hours between tournaments, or a weekday with a time of day.",
                )
            )
    elif None in weekly:
        problems.append(
            Problem("weekday", "Give hours between tournaments, or a weekday and a time of day.")
        )
    else:
        problems += _weekly_problems(values)
    problems += _time_zone_problems(values["time_zone"])
    problems += _whole(values, "entry_hours", ENTRY_HOURS)
    if not isinstance(values["first_at"], datetime) or values["first_at"] < _EARLIEST:
        problems.append(
            Problem("first_at", f"{_shown(values['first_at'])} is not a time after the year 2000.")
        )
    return problems


def first_start_problems(values: Values, now: datetime) -> list[Problem]:
    """Return the problems of the first start of a schedule that an organiser changes now."""
    if values["first_at"] > now + FURTHEST:
        return [
            Problem(
                "first_at",
                f"{_shown(values['first_at'])} is too far; choose a time in the next two years.",
            )
        ]
    return []


def _contradictions(values: Values) -> Iterator[Problem]:
    name = Format(values["format"]).label
    if values["swiss_rounds"] is not None and values["format"] != Format.SWISS:
        yield Problem(
            "swiss_rounds", f"Only a Swiss has this setting. Leave it empty for a {name}."
        )
    if values["late_entry"] and values["format"] == Format.KNOCKOUT:
        yield Problem(
            "late_entry", "Bots can't enter a knockout after its start; switch late entry off."
        )
    if values["fill_in"] and values["house_bots"]:
        yield Problem(
            "fill_in",
            "House bots can take part or fill empty seats, not both; switch one of the two off.",
        )


def _weekly_problems(values: Values) -> Iterator[Problem]:
    weekday = values["weekday"]
    if not _is_whole(weekday) or not 0 <= weekday <= 6:
        days = ", ".join(f"{number} ({name})" for number, name in enumerate(_WEEKDAYS))
        yield Problem("weekday", f"There is no weekday {quote(weekday)}; choose one of {days}.")
    if not isinstance(values["time_of_day"], time):
        yield Problem(
            "time_of_day",
            f"{quote(values['time_of_day'])} is not a time of day; write it like 18:00.",
        )


@cache
def _time_zones() -> frozenset[str]:
    """Return the names of all time zones; the first call reads thousands of files."""
    return frozenset(available_timezones())


def _time_zone_problems(name: Any) -> Iterator[Problem]:
    if not isinstance(name, str) or name not in _time_zones():
        yield Problem(
            "time_zone",
            f"There is no time zone {quote(name)}; use a name such as Europe/London or UTC.",
        )


def _title_problems(title: Any, longest: int = MAX_TITLE) -> Iterator[Problem]:
    if not isinstance(title, str) or not title.strip():
        yield Problem("title", "Give a title.")
    elif len(title) > longest:
        yield Problem(
            "title", f"The title has {len(title)} characters; at most {longest} are allowed."
        )
    elif any(unicodedata.category(letter).startswith("C") for letter in title):
        yield Problem("title", f"{quote(title)} has a character that can't be shown; remove it.")


def _slug_problems(slug: Any) -> Iterator[Problem]:
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789-")
    if not isinstance(slug, str) or not 1 <= len(slug) <= MAX_SLUG or not set(slug) <= allowed:
        yield Problem(
            "slug",
            f"{quote(slug)} can't be used in addresses; use 1 to {MAX_SLUG} characters: a-z, 0-9 "
            "and -.",
        )


def _game_problems(values: Values) -> Iterator[Problem]:
    """Yield the problem of game, preset and seats: the first of the three that is wrong."""
    field = "game"
    try:
        game = catalogue.find(values["game"])
        field = "rules"
        preset = game.preset(values["rules"])
        field = "seats"
        if not _is_whole(values["seats"]):
            raise UnknownRulesError(f"{quote(values['seats'])} is not a whole number of seats")
        preset.check_seats(values["seats"])
    except (UnknownRulesError, TypeError) as error:
        text = str(error)
        yield Problem(field, f"{text[:1].upper()}{text[1:]}.")


def _number(values: Values, name: str, limits: Limits) -> Iterator[Problem]:
    yield from _limited(values, name, limits, _is_number, "number")


def _whole(values: Values, name: str, limits: Limits) -> Iterator[Problem]:
    yield from _limited(values, name, limits, _is_whole, "whole number")


def _limited(
    values: Values, name: str, limits: Limits, is_right: Callable[[Any], bool], kind: str
) -> Iterator[Problem]:
    value = values[name]
    if not is_right(value) or not limits.low <= value <= limits.high:
        yield Problem(name, f"{quote(value)} is not allowed; use a {kind} {limits}.")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return type(value) is int


def _is_step(blocks: Any, k: Any) -> bool:
    return (
        _is_whole(blocks)
        and _is_whole(k)
        and _BLOCKS_OF_K.low <= blocks <= _BLOCKS_OF_K.high
        and _K.low <= k <= _K.high
    )


def _shown(moment: Any) -> str:
    if not isinstance(moment, datetime):
        return quote(moment)
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"

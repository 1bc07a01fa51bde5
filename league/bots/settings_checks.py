"""Checks of bots: one place for forms, API, admin and commands, as for ladders and tournaments.

The database refuses rows that fail these checks, so the tick need not set a bot aside.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.errors import listed, quote
from league.models import Bot
from league.models.bots import MAX_DESCRIPTION, NAME_PATTERN
from league.models.limits import CHALLENGES_PER_DAY
from league.models.settings_problems import Problem

Kind = Bot.Kind


def bot_problems(values: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of a bot as a whole.

    Args:
        values: the fields of `Bot`, all of them.
    """
    return [
        *_name_problems(values["name"]),
        *_kind_problems(values["kind"], values["owner_id"]),
        *_description_problems(values["description"]),
        *_challenge_problems(values["challenges_from"], values["max_challenges_per_day"]),
    ]


def _name_problems(name: Any) -> Iterator[Problem]:
    if not isinstance(name, str) or not re.fullmatch(NAME_PATTERN, name, re.ASCII):
        yield Problem(
            "name",
            f"{quote(name)} is not a valid bot name; use 3 to 32 characters: a-z, 0-9 and -.",
        )


def _kind_problems(kind: Any, owner_id: Any) -> Iterator[Problem]:
    kinds = [each for each in Kind.values if each != Kind.PLAYER]  # created at a table only
    if kind not in kinds:
        yield Problem("kind", f"There is no kind {quote(kind)}; the kinds are {listed(kinds)}.")
    elif kind == Kind.HOUSE and owner_id is not None:
        yield Problem("kind", "House bots belong to the league; choose remote or hosted.")
    elif kind != Kind.HOUSE and owner_id is None:
        yield Problem("kind", f"A {kind} bot needs an owner.")


def _challenge_problems(challengers: Any, per_day: Any) -> Iterator[Problem]:
    known = Bot.Challengers.values
    if challengers not in known:
        yield Problem(
            "challenges_from",
            f"{quote(challengers)} is not allowed here; choose one of {listed(known)}.",
        )
    limits = CHALLENGES_PER_DAY
    if type(per_day) is not int or not limits.low <= per_day <= limits.high:
        yield Problem("max_challenges_per_day", f"Choose a number {limits}.")


def _description_problems(description: Any) -> Iterator[Problem]:
    if not isinstance(description, str) or len(description) > MAX_DESCRIPTION:
        yield Problem("description", f"Use a text of at most {MAX_DESCRIPTION} characters.")
    elif "\0" in description:
        yield Problem("description", "It has a null character, which can't be stored; remove it.")

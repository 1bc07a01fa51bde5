"""Event settings: how a tournament is played; `settings_checks` has the rules."""

from typing import Any

from league.competitions.settings_checks import EVENT_SETTINGS, event_problems
from league.models import EventSettings
from league.models.settings_problems import require_valid


def settings_of(event: EventSettings) -> dict[str, Any]:
    """Return the event settings of a tournament or schedule, by field."""
    return {name: getattr(event, name) for name in EVENT_SETTINGS}


def check_event_settings(event: EventSettings) -> None:
    """Raise if the event settings of a tournament or schedule are not allowed.

    Raises:
        ValidationError: by field.
    """
    require_valid(event_problems(settings_of(event)))

"""Event settings: how a tournament is played, and which settings contradict each other."""

from typing import Any

from django.core.exceptions import ValidationError

from league.models import EventSettings

FIELDS = tuple(field.name for field in EventSettings._meta.get_fields())
"""The names of the event settings, which a schedule copies to its tournaments."""

Format = EventSettings.Format


def settings_of(event: EventSettings) -> dict[str, Any]:
    """Return the event settings of a tournament or schedule, by field."""
    return {name: getattr(event, name) for name in FIELDS}


def check_event_settings(event: EventSettings) -> None:
    """Raise if the event settings of a tournament or schedule contradict each other.

    Raises:
        ValidationError: by field.
    """
    errors, name = {}, event.get_format_display()
    if event.swiss_rounds is not None and event.format != Format.SWISS:
        errors["swiss_rounds"] = f"Only a Swiss has it; leave it empty for a {name}."
    if event.late_entry and event.format == Format.KNOCKOUT:
        errors["late_entry"] = "A knockout can't have late entries; set late_entry to false."
    if event.fill_in and event.house_bots:
        errors["fill_in"] = "It needs house bots that are not entered: set house_bots to false."
    if errors:
        raise ValidationError(errors)

"""What an organiser settles before a tournament: format, blocks, who may come late or fill in."""

from typing import Any

from django.core.exceptions import ValidationError

from league.models import EventSettings

FIELDS = tuple(
    field.name
    for field in EventSettings._meta.get_fields()  # type: ignore[attr-defined]
)
"""Of an event_settings, which a schedule hands on to its tournaments."""

Format = EventSettings.Format


def settings_of(arranged: EventSettings) -> dict[str, Any]:
    """Return what a tournament or schedule has settled, by field."""
    return {name: getattr(arranged, name) for name in FIELDS}


def check_event_settings(arranged: EventSettings) -> None:
    """Raise unless all that is settled goes together.

    Raises:
        ValidationError: by field.
    """
    errors = {}
    if arranged.swiss_rounds is not None and arranged.format != Format.SWISS:
        errors["swiss_rounds"] = f"A {arranged.get_format_display()} has no number of rounds."
    if arranged.late_entry and arranged.format == Format.KNOCKOUT:
        errors["late_entry"] = "A knockout takes nobody once its first round is open."
    if arranged.fill_in and arranged.house_bots:
        errors["fill_in"] = "House bots are entered already; set house_bots to false."
    if errors:
        raise ValidationError(errors)

"""The form with which organisers announce a tournament, or change one before its start."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.utils import timezone

from league.models import Ladder, Tournament
from league.models.limits import BLOCKS_PER_ROUND, EXTRA_BLOCKS, SWISS_ROUNDS, TABLES
from web.conflicts import replaced

_TIMES = ("entries_open_at", "starts_at")
_WITH_DEFAULTS = ("max_tables", "extra_blocks")
_GROUPS = {
    "What is played": ("title", "ladder", "format", "house", "late_entry"),
    "When": ("zone", "starts_at", "entries_open_at"),
    "How much": ("blocks_per_table", "swiss_rounds", "max_tables", "extra_blocks"),
}
_TAKE_PART, _FILL_SEATS, _NEITHER = "take-part", "fill-seats", "neither"
_WIRE = "%Y-%m-%dT%H:%M"


def _time(**options: Any) -> forms.DateTimeField:
    # Without autocompletion: if a browser restores a time, the script changes its zone.
    widget = forms.DateTimeInput({"type": "datetime-local", "autocomplete": "off"}, format=_WIRE)
    return forms.DateTimeField(widget=widget, **options)


def _count(low: int, high: float, **options: Any) -> forms.IntegerField:
    return forms.IntegerField(min_value=low, max_value=int(high), required=False, **options)


class EventForm(forms.Form):
    """A tournament's title, times and settings; times are read in the zone that is chosen.

    Args:
        data: what was sent, if anything.
        tournament: the tournament to change; None for a new one.
    """

    title = forms.CharField(
        max_length=80, help_text="For example: Class cup, week 3.", widget=forms.TextInput
    )
    ladder = forms.ModelChoiceField(
        Ladder.objects.order_by("title"),
        to_field_name="slug",
        empty_label=None,
        help_text="It sets the game, the preset and the seats, and rates the matches.",
    )
    format = forms.ChoiceField(
        choices=[
            (Tournament.Format.SWISS, "Swiss: similar scores meet"),
            (Tournament.Format.ROUND_ROBIN, "Round robin: all bots meet"),
            (Tournament.Format.KNOCKOUT, "Knockout: the better half goes on"),
        ],
    )
    zone = forms.CharField(
        label="Your time zone",
        initial="UTC",
        help_text="The times below are in this zone. For example: Europe/Berlin.",
        widget=forms.TextInput({"data-own-zone": "", "autocomplete": "off", "spellcheck": "false"}),
    )
    starts_at = _time(label="Start", help_text="Entries close at this time.")
    entries_open_at = _time(
        label="Entries open", required=False, help_text="Empty: they open at once."
    )
    house = forms.ChoiceField(
        choices=[
            (_TAKE_PART, "They take part"),
            (_FILL_SEATS, "They fill empty seats"),
            (_NEITHER, "Neither"),
        ],
        required=False,
        initial=_TAKE_PART,
        label="House bots",
        widget=forms.RadioSelect,
        help_text="If they take part, they are ranked like all other bots. If they fill seats, "
        "some sit at tables that have too few bots.",
    )
    late_entry = forms.BooleanField(
        required=False,
        label="Bots may enter after the start",
        help_text="Not in a knockout.",
    )
    blocks_per_table = _count(
        1,
        BLOCKS_PER_ROUND.high,
        help_text="How many blocks a table plays in a stage. In a block each bot sits once in each "
        f"seat. At most {BLOCKS_PER_ROUND.high}. Empty: 2 in a Swiss, 1 in other formats.",
    )
    swiss_rounds = _count(
        1,
        SWISS_ROUNDS.high,
        label="Number of stages (Swiss)",
        help_text="Empty: it follows from the number of bots. For 16 bots it is 6.",
    )
    max_tables = _count(
        1,
        TABLES.high,
        label="Maximum number of tables (round robin)",
        help_text="If the bots can form more tables, the league chooses some of them, so that all "
        "bots play equally often.",
    )
    extra_blocks = _count(
        0,
        EXTRA_BLOCKS.high,
        label="Maximum number of extra blocks (knockout)",
        help_text="They break a tie for a place in the next stage.",
    )

    def __init__(
        self,
        data: dict[str, Any] | Any | None = None,
        *,
        tournament: Tournament | None = None,
    ) -> None:
        initial: dict[str, Any] = {name: getattr(Tournament(), name) for name in _WITH_DEFAULTS}
        if tournament is None:
            soon = timezone.now() + timedelta(hours=1)
            initial["starts_at"] = soon.replace(second=0, microsecond=0)
        else:
            fields = {field.name for field in Tournament._meta.get_fields()}
            initial |= {n: getattr(tournament, n) for n in self.base_fields if n in fields}
            initial["house"] = _house_of(tournament)
        super().__init__(data, initial=initial)
        self._tournament = tournament
        if tournament is not None:
            del self.fields["ladder"]
            self.fields["read_at"] = forms.CharField(
                widget=forms.HiddenInput, initial=tournament.changed_at.isoformat()
            )
            if tournament.state != Tournament.State.ANNOUNCED:
                del self.fields["entries_open_at"]

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Headings and fields, as the page groups them."""
        return [
            (heading, [self[name] for name in names if name in self.fields])
            for heading, names in _GROUPS.items()
        ]

    def clean_zone(self) -> ZoneInfo:
        """Return the zone of the times."""
        name = self.cleaned_data["zone"].strip()
        if name not in available_timezones():
            raise forms.ValidationError(
                f"{name!r} is not a time zone. Write an area and a city, such as Europe/Berlin, or "
                "UTC."
            )
        return ZoneInfo(name)

    def clean(self) -> dict[str, Any]:
        """Return the values, with the times in the zone that was chosen."""
        sent = super().clean() or {}
        zone = sent.get("zone")
        for name in _TIMES:
            if zone is not None and sent.get(name) is not None:
                try:
                    sent[name] = self._stored(name, sent[name], zone) or _in_zone(sent[name], zone)
                except forms.ValidationError as error:
                    self.add_error(name, error)
        return sent

    def _stored(self, name: str, sent: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the stored time if the form shows it as the time that was sent; else None.

        The form shows no seconds, and does not tell apart the two hours when the clocks go back.
        """
        stored: datetime | None = getattr(self._tournament, name, None)
        if stored is None:
            return None
        shown = stored.astimezone(zone).replace(tzinfo=None, second=0, microsecond=0)
        return stored if shown == sent.astimezone(UTC).replace(tzinfo=None) else None

    def settings(self) -> dict[str, Any]:
        """Return the settings for `moderation.announce` or `moderation.change`.

        Times are aware. Numbers that are left empty have the model's default.
        """
        sent = self._values()
        house = sent.pop("house")
        return sent | {"house_bots": house == _TAKE_PART, "fill_in": house == _FILL_SEATS}

    def _values(self) -> dict[str, Any]:
        """Return the settings, with the choice for the house bots as the form has it."""
        sent = dict(self.cleaned_data)
        sent.pop("zone")
        if "entries_open_at" in sent and sent["entries_open_at"] is None:
            sent["entries_open_at"] = timezone.now()
        for name in _WITH_DEFAULTS:
            if sent[name] is None:
                sent[name] = getattr(Tournament(), name)
        if "read_at" in sent:
            sent["read_at"] = datetime.fromisoformat(sent["read_at"])
        return sent

    def show_conflict(self, stored: Tournament) -> None:
        """Show what somebody else has stored meanwhile; the next attempt replaces it."""
        self.data = replaced(self.data, "read_at", stored.changed_at.isoformat())
        lines = [
            "Somebody else has changed this tournament since you opened the page, so your changes "
            "are not saved. Save again to replace the stored version with yours."
        ]
        for name, value in self._values().items():
            other = _house_of(stored) if name == "house" else getattr(stored, name, value)
            if other != value:
                label = self[name].label
                lines.append(
                    f"{label}: stored now “{self._text(name, other)}”, "
                    f"yours “{self._text(name, value)}”."
                )
        self.add_error(None, forms.ValidationError(lines, code="changed-meanwhile"))

    def _text(self, name: str, value: Any) -> str:
        """Return a value as the form shows it."""
        if isinstance(value, datetime):
            zone: ZoneInfo = self.cleaned_data["zone"]
            return f"{value.astimezone(zone):%d %B %Y, %H:%M} ({zone.key})"
        if isinstance(value, bool):
            return "yes" if value else "no"
        choices = dict(getattr(self.fields[name], "choices", ()))
        return str(choices.get(value, "" if value is None else value))

    def clean_read_at(self) -> str:
        """Return when the tournament was read, as ISO 8601."""
        text: str = self.cleaned_data["read_at"]
        try:
            datetime.fromisoformat(text)
        except ValueError:
            raise forms.ValidationError("Open this page again and repeat the change.") from None
        return text


def _house_of(tournament: Tournament) -> str:
    """Return the choice of the form for what the house bots do in a tournament."""
    if tournament.house_bots:
        return _TAKE_PART
    return _FILL_SEATS if tournament.fill_in else _NEITHER


def _in_zone(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return a time that the form has read as UTC, as the same clock time in the zone.

    Raises:
        ValidationError: the zone's clocks never show this time, or no calendar has it.
    """
    shown = moment.astimezone(UTC).replace(tzinfo=None)
    try:
        found = shown.replace(tzinfo=zone).astimezone(UTC)
        if found.astimezone(zone).replace(tzinfo=None) == shown:
            return found
    except OverflowError:
        pass
    raise forms.ValidationError(
        f"There is no {shown:%d %B %Y, %H:%M} in {zone.key}: the clocks skip it. "
        "Choose another time."
    )

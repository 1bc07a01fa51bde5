"""Forms of players: a new table, and a seat at somebody else's."""

from typing import Any
from urllib.parse import urlencode

from django import forms

from engine.games import catalogue
from league.models import Bot, Match
from league.models.players import MAX_NICKNAME

_PRESETS = {
    "twelve-days calliope": "12 Days, full game of 12 days",
    "twelve-days eight-nights": "12 Days, short game of 8 days",
    "twelve-days cheapass": "12 Days, a Claus keeps the points",
    "partridge eagle-short": "12 Days of Christmas, 3 rounds (short)",
    "partridge mathpickle-short": "12 Days of Christmas, 6 rounds",
    "partridge eagle": "12 Days of Christmas, 12 rounds",
}
_LEVELS = {
    "easy": "Easy: bots play at random or by simple rules",
    "medium": "Medium: one bot counts the cards left",
    "hard": "Hard: one bot searches for moves",
}
_TABLE_GROUPS = {
    "The game": ("game", "seats"),
    "Your opponents": ("level", "opponents", "waits"),
    "You": ("nickname", "no_clock"),
}
"""Headings of the form of a new table, and the fields under each."""
_SEATS = 4


_MOST_SEATS = 6


def against_bots_of(match: Match) -> str:
    """Return the query with which the form of tables offers a match against the same bots.

    One seat is added for the player if the preset allows it; else the last bots stay out. The
    query is empty if players cannot choose the preset, or if a person sat in the match.

    Args:
        match: with ``seating`` and its bots.
    """
    game = f"{match.game} {match.rules}"
    seating = match.seating.all()
    if game not in _PRESETS or any(seat.bot.kind == Bot.Kind.PLAYER for seat in seating):
        return ""
    preset = catalogue.find(match.game).preset(match.rules)
    seats = min(match.seats + 1, preset.max_seats, _MOST_SEATS)
    best = sorted(seating, key=lambda seat: (seat.place or 0, seat.seat))
    names = " ".join(seat.bot.name for seat in best[: seats - 1])
    return urlencode({"game": game, "seats": seats, "opponents": names})


class TableForm(forms.Form):
    """A new table."""

    offered = ("game", "seats", "opponents")
    """The fields that a link to the form can fill in."""

    game = forms.ChoiceField(choices=[*_PRESETS.items()], label="Game")
    seats = forms.TypedChoiceField(
        coerce=int,
        choices=[(n, f"{n} seats") for n in range(2, _MOST_SEATS + 1)],
        initial=_SEATS,
        required=False,
        label="Seats",
    )
    level = forms.ChoiceField(
        choices=[*_LEVELS.items()],
        initial="medium",
        required=False,
        label="How strong are the bots?",
        help_text="With 2 seats, medium plays by simple rules, and hard counts the cards left.",
    )
    nickname = forms.CharField(
        max_length=MAX_NICKNAME, required=False, label="Your name at the table (optional)"
    )
    opponents = forms.CharField(
        max_length=300,
        required=False,
        label="Particular bots (optional)",
        help_text="Names of bots, separated by spaces. You need an account to play against bots "
        "of other people.",
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    no_clock = forms.BooleanField(
        required=False,
        label="Play without a clock",
        help_text="With a clock, you have 60 s for a move. Without a clock, you have an hour.",
    )
    waits = forms.BooleanField(
        required=False,
        label="Invite others by a link first",
        help_text="Bots take the seats that stay empty.",
    )

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Headings and fields, as the page groups them."""
        return [
            (heading, [self[name] for name in names]) for heading, names in _TABLE_GROUPS.items()
        ]

    def clean_seats(self) -> int:
        """Return the number of seats: as chosen if the game allows it; else as near 4 as it does.

        Raises:
            ValidationError: the game does not allow the chosen number.
        """
        chosen: int | str = self.cleaned_data["seats"]
        title: str = self.cleaned_data.get("game", "")
        if not title:
            return int(chosen or _SEATS)  # the error of the game is enough
        game, _, rules = title.partition(" ")
        preset = catalogue.find(game).preset(rules)
        fewest, most = preset.min_seats, min(preset.max_seats, _MOST_SEATS)
        seats = int(chosen or min(max(_SEATS, fewest), most))
        if not fewest <= seats <= most:
            numbers = f"{fewest} {'or' if most == fewest + 1 else 'to'} {most}"
            raise forms.ValidationError(
                f"“{_PRESETS[title]}” takes {numbers} seats, not {seats}. Choose {numbers} seats."
            )
        return seats

    def table(self) -> dict[str, Any]:
        """Return the arguments of `league.competitions.open_table`, but for the account."""
        sent = self.cleaned_data
        game, _, rules = sent["game"].partition(" ")
        return {
            "game": game,
            "rules": rules,
            "seats": sent["seats"],
            "level": sent["level"] or "medium",
            "opponents": sent["opponents"].replace(",", " ").split(),
            "nickname": sent["nickname"],
            "has_clock": not sent["no_clock"],
            "waits": sent["waits"],
        }


class JoinForm(forms.Form):
    """A seat at a table that waits."""

    nickname = forms.CharField(
        max_length=MAX_NICKNAME, required=False, label="Your name at the table (optional)"
    )

"""Highlights as pages show them: a sentence, the picture of the decisive moment, and its step."""

from collections.abc import Sequence
from typing import NamedTuple

from django.urls import reverse

from engine.games.titles import counted, unit_of
from league.archive_files import ArchiveError
from league.models import Highlight
from league.play.headlines import headline
from web.table.moments import Moment, moment_of

Kind = Highlight.Kind


class Shown(NamedTuple):
    """A highlight on a page.

    Attributes:
        highlight: with its bots, and its match with seats.
        sentence: what happened, without a full stop.
        address: of the step of the match that shows it; of the bot if there is no match.
        moment: the picture of that step; None without a match.
    """

    highlight: Highlight
    sentence: str
    address: str
    moment: Moment | None


def shown(highlights: Sequence[Highlight]) -> list[Shown]:
    """Return highlights, as `league.feeds` returns them, with their pictures."""
    return [Shown(each, sentence(each), _address(each), _moment(each)) for each in highlights]


def sentence(highlight: Highlight) -> str:
    """Return what happened in a highlight, without a full stop."""
    name, number = highlight.bot.name, highlight.number
    match highlight.kind:
        case Kind.UPSET if highlight.opponent is not None:
            return f"{name} beats {highlight.opponent.name}, which was rated {number} points higher"
        case Kind.COMEBACK if highlight.match is not None:
            unit = unit_of(highlight.match.game, number)
            return f"{name} wins after it was {number} {unit} behind"
        case Kind.STREAK:
            return f"{name} wins {counted(number, 'match')} in a row"
        case Kind.NEWCOMER if highlight.ladder is not None:
            return f"{name} is rated {number} on {highlight.ladder.title} on its first day"
    return name if highlight.match is None else headline(highlight.match)


def _address(highlight: Highlight) -> str:
    if highlight.match is None:
        return reverse("web:bot", args=[highlight.bot.name])
    page = reverse("web:match", args=[highlight.match.pk])
    return f"{page}?step={highlight.step}" if highlight.step else page


def _moment(highlight: Highlight) -> Moment | None:
    """Return the picture of a highlight; None without a match, or if its archive file is lost."""
    if highlight.match is None:
        return None
    bots = {highlight.bot_id, highlight.opponent_id}
    about = [seat.seat for seat in highlight.match.seating.all() if seat.bot_id in bots]
    try:
        return moment_of(highlight.match, highlight.step or 1, about)
    except ArchiveError:
        return None

"""Highlights in words, for pages and feeds."""

from engine.games.titles import counted, unit_of
from league.models import Highlight
from league.play.headlines import headline

Kind = Highlight.Kind


def sentence(highlight: Highlight) -> str:
    """Return what happened in a highlight, without a full stop."""
    name, number = highlight.bot.name, highlight.number
    match highlight.kind:
        case Kind.UPSET if highlight.opponent is not None:
            return f"{name} beats {highlight.opponent.name}, which was rated {number} Elo higher"
        case Kind.COMEBACK if highlight.match is not None:
            unit = unit_of(highlight.match.game, number)
            return f"{name} wins after it was {number} {unit} behind"
        case Kind.STREAK:
            return f"{name} wins {counted(number, 'match')} in a row"
        case Kind.NEWCOMER if highlight.ladder is not None:
            return f"{name} is rated {number} on {highlight.ladder.title} on its first day"
    return name if highlight.match is None else headline(highlight.match)

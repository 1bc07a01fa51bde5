"""The match of a tournament to watch: at the end one that decided it, before one of the last."""

from collections.abc import Sequence
from typing import NamedTuple

from league.competitions.history import History
from league.competitions.tournament_standings import TournamentStanding
from league.models import Match, Tournament
from league.visibility import counting_results
from web.highlights import Shown, shown_deciding_step
from web.selectors.matches import matches_listed

_LATEST = 8
"""While a tournament runs, the match is one of so many that finished last."""
_BETWEEN = 50
"""At the end it is one of the last so many that the winner won against the second."""


class MatchToWatch(NamedTuple):
    """A match of a tournament, with the picture of the step in which its winner took the lead.

    Attributes:
        kind: why it is shown, such as "The final".
        shown: the match as a highlight.
    """

    kind: str
    shown: Shown


def match_to_watch(
    history: History, placed: Sequence[TournamentStanding], last: str
) -> MatchToWatch | None:
    """Return the match to watch; None without one that is open to all.

    The number of queries does not depend on the number of matches.

    Args:
        history: of the tournament.
        placed: its standings, the best first.
        last: name of its last stage.
    """
    if not history.opened:
        return None
    found = matches_listed().filter(counting_results())
    if history.tournament.state != Tournament.State.FINISHED:
        latest = found.filter(block__round__in=history.opened).order_by("-finished_at", "-pk")
        return _closest(
            list(latest[:_LATEST]), "Closest of the last matches", if_clear="From the last matches"
        )
    ranked = [each.bot for each in placed if each.row.rank is not None]
    if len(ranked) < 2:
        return None
    winner, second = ranked[:2]
    for bot, place in ((winner, {"seating__place": 1}), (second, {})):
        found = found.filter(seating__bot=bot, **place)
    if history.tournament.format == Tournament.Format.KNOCKOUT:
        finals = found.filter(block__round=history.opened[-1]).order_by("-finished_at", "-pk")
        return _closest(list(finals[:_BETWEEN]), last, also_forfeits=True)
    between = found.filter(block__round__in=history.opened).order_by("-finished_at", "-pk")
    return _closest(list(between[:_BETWEEN]), f"Closest win against {second.name}")


def _closest(
    matches: Sequence[Match], kind: str, *, if_clear: str = "", also_forfeits: bool = False
) -> MatchToWatch | None:
    """Return the match with one winner that won by least; the first of equal ones.

    Args:
        matches: with their seats.
        kind: why it is shown.
        if_clear: what to say instead if even this match was won clearly.
        also_forfeits: whether a match that a seat forfeited is shown if there is no other.
    """
    won = [match for match in matches if _winners(match) == 1]
    played = [match for match in won if not any(seat.forfeited for seat in match.seating.all())]
    won = played or won * also_forfeits
    if not won:
        return None
    best = min(won, key=_margin)
    best.refresh_from_db(fields=["packed_record"])  # one query, kept pictures or not
    shown = shown_deciding_step(best)
    if if_clear and not _is_close(best):
        kind = if_clear
    return None if shown is None else MatchToWatch(kind, shown)


def _margin(match: Match) -> int:
    """Return the distance between the two highest scores of a match."""
    scores = sorted((seat.score or 0 for seat in match.seating.all()), reverse=True)
    return scores[0] - scores[1] if scores[1:] else 0


def _is_close(match: Match) -> bool:
    """Return whether the winner of a match won by 1, or by at most a fifth of its score."""
    best = max(seat.score or 0 for seat in match.seating.all())
    return _margin(match) <= max(1, best / 5)


def _winners(match: Match) -> int:
    return sum(seat.place == 1 for seat in match.seating.all())

"""Names of seats and headlines of matches, in the words of all pages, streams and feeds.

A person at a table is shown by the name given there, and without one as a guest. The bot that
stands for the person has a name that nobody chose, so people never see it.
"""

from collections.abc import Iterable, Sequence

from engine.games.titles import GAME_TITLES
from league.models import Bot, Match, MatchSeat
from league.visibility import may_see_record

_STATES = {
    Match.Status.WAITING: "waiting",
    Match.Status.PLAYING: "in play",
    Match.Status.FINISHED: "result hidden",
    Match.Status.VOID: "void",
}
"""The state after the names, while everybody may not see the result."""


GUEST = "a guest"
_UNNAMED = "guest"
"""The nickname of a person who gave none."""


def seat_name(seat: MatchSeat) -> str:
    """Return the name of a seat for people: of its bot, or of the person who plays.

    Args:
        seat: with its bot; a player's seat costs a query, unless ``bot__player`` is there too.
    """
    if seat.bot.kind != Bot.Kind.PLAYER:
        return seat.bot.name
    player = getattr(seat.bot, "player", None)
    return GUEST if player is None or player.nickname == _UNNAMED else player.nickname


def seat_names(match: Match) -> list[str]:
    """Return the names of the seats of a match for people, by seat.

    Args:
        match: with ``seating`` and its bots.
    """
    return _names(match.seating.all())


def headline(match: Match) -> str:
    """Return a match's headline, such as "house-counting wins 6-1 against ada-1".

    If three or more play, the numbers are the points of the best two. Without a public result the
    headline names the players and the state: "ada-1, bob and 2 others: in play".

    Args:
        match: with ``seating`` and its bots, and what `league.visibility` needs.
    """
    return _capital(_headline(match, list(match.seating.all())))


def live_headline(game: str, names: Sequence[str], points: Sequence[int], begun: int) -> str:
    """Return the headline of a match that spectators watch: who leads, such as "bob leads 3-2".

    The numbers are the points of the best two, as in `headline`. Before a seat has scored, the
    headline names the game: "ada-1, bob and 2 others play 12 Days".

    Args:
        game: its name.
        names: the names that pages show, by seat.
        points: of each seat now.
        begun: points of each seat at the start.
    """
    if all(each == begun for each in points):
        return _capital(f"{_listed(names, 2)} play {GAME_TITLES[game]}")
    best, following = (str(each).replace("-", "−") for each in sorted(points, reverse=True)[:2])
    first = [name for name, each in zip(names, points, strict=True) if each == max(points)]
    if len(first) > 1:
        return _capital(f"{_listed(first, 1)} are level at {best}-{best}")
    return _capital(f"{first[0]} leads {best}-{following}")


def state_words(match: Match) -> str:
    """Return the state of a match whose result is not public, such as "in play"."""
    return _STATES[Match.Status(match.status)]


def winner_name(match: Match) -> str:
    """Return the name with which a match's headline begins because it won alone; else "".

    Args:
        match: as for `headline`.
    """
    if not may_see_record(match):
        return ""
    first = [seat for seat in match.seating.all() if seat.place == 1]
    return seat_name(first[0]) if len(first) == 1 else ""


def players(match: Match) -> str:
    """Return the names of a match's seats as words, without a result: at most three and a number.

    Args:
        match: with ``seating`` and its bots.
    """
    return _capital(_listed(seat_names(match), 3))


def _capital(text: str) -> str:
    """Return a headline that begins with a capital letter if a guest stands first."""
    return f"A{text[1:]}" if text.startswith(f"{GUEST} ") else text


def seats_by_place(match: Match) -> list[MatchSeat]:
    """Return the seats of a finished match, the best first.

    Args:
        match: with ``seating`` and its bots.
    """
    return _by_place(match.seating.all())


def _headline(match: Match, seats: Sequence[MatchSeat]) -> str:
    if not may_see_record(match):
        names = _listed(_names(seats), 2)
        return f"{names}: {state_words(match)}"
    by_place = _by_place(seats)
    first = [seat for seat in by_place if seat.place == 1]
    others = by_place[len(first) :]
    if len(first) > 1:
        return _tie(first, others)
    return _win(by_place[0], others)


def _by_place(seats: Iterable[MatchSeat]) -> list[MatchSeat]:
    return sorted(seats, key=lambda seat: (seat.place or 0, -(seat.score or 0), seat.seat))


def _win(winner: MatchSeat, others: Sequence[MatchSeat]) -> str:
    names = _listed(_names(others), 1)
    if others[0].forfeited:
        how = "wins by forfeit"
    else:
        how = f"wins {_points(winner)}-{_points(others[0])}"
    return f"{seat_name(winner)} {how} against {names}"


def _tie(first: Sequence[MatchSeat], others: Sequence[MatchSeat]) -> str:
    names = _listed(_names(first), 3)
    if all(seat.forfeited for seat in first):
        return f"{names} forfeit: a tie"
    scores = "-".join(_points(seat) for seat in first[:2])
    behind = f", ahead of {_listed(_names(others), 1)}" if others else ""
    return f"{names} tie {scores}{behind}"


def _names(seats: Iterable[MatchSeat]) -> list[str]:
    return [seat_name(seat) for seat in seats]


def _points(seat: MatchSeat) -> str:
    return str(seat.score).replace("-", "−")


def _listed(names: Sequence[str], shown: int) -> str:
    """Return names as a list of words; if there are more than so many + 1, a number at its end."""
    if not names:
        return "nobody"
    if len(names) <= shown + 1:
        *front, last = names
        return f"{', '.join(front)} and {last}" if front else last
    left = len(names) - shown
    return f"{', '.join(names[:shown])} and {left} other{'s' if left > 1 else ''}"

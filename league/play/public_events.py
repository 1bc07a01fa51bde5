"""The events of a match in play, as the public may see them."""

from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.events import Event
from engine.playback import play_on
from league.models import Match
from league.visibility import may_watch


def public_events(match: Match) -> list[list[Event]] | None:
    """Return the events of the deal and of each complete phase; None if they must stay hidden.

    They stay hidden if the match is not in play, or if its block plays the same deal at other
    tables. Costs one query, and one more if the match went on meanwhile.

    Args:
        match: the match, with its block.
    """
    if match.status != Match.Status.PLAYING or not may_watch(match):
        return None
    moves = match.live_moves.filter(ply__lt=match.plies).order_by("ply")
    log = list(moves.values_list("seat", "text"))
    if len(log) < match.plies:  # finished since its row was read
        match.refresh_from_db()
        return public_events(match) if match.status == Match.Status.PLAYING else None
    deal: list[Event] = []
    shuffle = seeded_shuffle(bytes(match.deal_seed))
    state = catalogue.start(match.game, match.rules, match.seats, shuffle, deal)
    phases = [deal, *(phase.events for phase in play_on(state, log))]
    return [[event.seen_by(None) for event in events] for events in phases]

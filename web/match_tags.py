"""Template filters for matches and blocks: names, results and what is still secret.

Django loads them for all templates.
"""

from collections.abc import Iterable

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import get_text_list

from league.models import Block, Match, MatchSeat
from league.play import headlines
from league.visibility import may_see_record, public_deal_seed
from web.tags import whole

register = template.Library()


@register.filter
def deal_seed(match: Match) -> str:
    """Return the deal seed of a match that is open to all, in hex."""
    return public_deal_seed(match) or ""


@register.filter
def open_to_all(match: Match) -> bool:
    """Return whether the result and cards of a match may be shown."""
    return may_see_record(match)


@register.filter
def headline(match: Match) -> str:
    """Return a match's players and result, as `league.play.headlines` writes them."""
    return headlines.headline(match)


@register.filter
def players(match: Match) -> str:
    """Return the players of a match without its result, for a replay that has not ended."""
    return headlines.players(match)


@register.filter
def scored_seats(match: Match) -> list[MatchSeat]:
    """Return the seats whose names and scores stand for a match in a list, the best first.

    The list is empty if the result is not public, and at a table of two, whose headline names both.
    """
    seen = match.seats > 2 and may_see_record(match)
    return headlines.seats_by_place(match) if seen else []


@register.filter
def faulty_seats(match: Match) -> list[MatchSeat]:
    """Return the seats of a match that made faults."""
    return [seat for seat in match.seating.all() if seat.faults]


@register.filter
def hides_results(matches: Iterable[Match]) -> bool:
    """Return whether a match of a list is finished, but its result still secret."""
    return any(
        match.status == Match.Status.FINISHED and not may_see_record(match) for match in matches
    )


@register.filter
def marked_headline(match: Match) -> SafeString:
    """Return a match's headline as `whole` returns it, with the name of the winner in bold."""
    text, winner = headlines.headline(match), headlines.winner_name(match)
    if not winner or not text.startswith(f"{winner} "):
        return whole(text)
    return format_html("<b>{}</b>{}", whole(winner), whole(text.removeprefix(winner)))


@register.filter
def winner(match: Match) -> str:
    """Return the name of the seat that won a match alone; "" without one."""
    return headlines.winner_name(match)


@register.filter
def seat_name(seat: MatchSeat) -> str:
    """Return the name of a seat for people, as `league.play.headlines` writes it."""
    return headlines.seat_name(seat)


@register.filter
def names_by_seat(match: Match) -> list[str]:
    """Return the names of the seats of a match for people, by seat."""
    return headlines.seat_names(match)


@register.filter
def state_words(match: Match) -> str:
    """Return the state of a match whose result is not public, as its headline has it."""
    return headlines.state_words(match)


@register.filter
def at_the_table(block: Block) -> str:
    """Return the names of the bots of a block as a list of words; its matches are prefetched."""
    first = next(iter(block.matches.all()), None)
    return get_text_list(headlines.seat_names(first), "and") if first else f"Block {block.number}"


@register.filter
def line_up(match: Match) -> str:
    """Return the names of the seats of a match as a list of words."""
    return get_text_list(headlines.seat_names(match), "and")


@register.filter
def waits(block: Block) -> bool:
    """Return whether no match of a block has begun; its matches are prefetched."""
    matches = block.matches.all()
    return bool(matches) and all(match.status == Match.Status.WAITING for match in matches)

"""Highlights as pages show them: a sentence, the picture of the decisive moment, and its step."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from django.urls import reverse

from engine.games.titles import GAME_TITLES
from league.archive_files import ArchiveError
from league.feeds.highlight_texts import sentence
from league.models import Highlight, Match
from league.play.headlines import headline, seat_names
from league.visibility import may_see_record
from web.table.moments import Moment, moment_of
from web.table.verdicts import in_places


class Shown(NamedTuple):
    """A highlight on a page.

    Attributes:
        highlight: with its bots, and its match with seats; None for a match without a
            highlight.
        sentence: what happened, without a full stop.
        address: of the step of the match that shows it; of the bot if there is no match.
        moment: the picture of that step; None without a match.
        game: its title.
        match: its id; None without one.
        others: the seats that the sentence does not name, if the caption names one of them.
        lost: what the worst mistake lost, in places; "" without a mistake.
    """

    highlight: Highlight | None
    sentence: str
    address: str
    moment: Moment | None
    game: str = ""
    match: int | None = None
    others: Sequence[str] = ()
    lost: str = ""


def shown(highlights: Sequence[Highlight]) -> list[Shown]:
    """Return highlights, as `league.feeds` returns them, with their pictures."""
    found = []
    for each in highlights:
        text, moment = sentence(each), _moment(each)
        others = _others(each.match, text, moment) if each.match and moment else ()
        game = GAME_TITLES.get(each.game, "")
        match, address, lost = each.match_id, _address(each), _lost(each)
        found.append(Shown(each, text, address, moment, game, match, others, lost))
    return found


def just_finished(matches: Iterable[Match], without: Collection[int | None]) -> list[Shown]:
    """Return for each game its match that finished last, as a highlight is shown.

    The picture is the step in which the winner took the lead.

    Args:
        matches: the latest first, with their seats and bots.
        without: ids of matches that the page shows already.
    """
    found: dict[str, Match] = {}
    for match in matches:
        if match.pk not in without and may_see_record(match):
            found.setdefault(match.game, match)
    return [each for each in map(shown_deciding_step, found.values()) if each is not None]


def shown_deciding_step(match: Match) -> Shown | None:
    """Return the step in which the winner of a match took the lead, as a highlight is shown.

    If seats share the first place, it is the end. None if the file of the archive is lost.

    Args:
        match: that everybody may see, with its seats and bots.
    """
    winners = [seat.seat for seat in match.seating.all() if seat.place == 1]
    try:
        moment = moment_of(match, about=winners)
    except ArchiveError:
        return None
    text, page = headline(match), reverse("web:match", args=[match.pk])
    address = f"{page}?step={moment.number}"
    others = _others(match, text, moment)
    return Shown(None, text, address, moment, GAME_TITLES.get(match.game, ""), match.pk, others)


def _others(match: Match, text: str, moment: Moment) -> list[str]:
    """Return the seats that a sentence does not name, if the caption below it names one of them."""
    others = [name for name in seat_names(match) if not _names(text, name)]
    return others if any(_names(moment.caption, name) for name in others) else []


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _lost(highlight: Highlight) -> str:
    """Return what the worst mistake of a highlight's match lost; "" if none is stored."""
    if highlight.mistake is None or highlight.match is None:
        return ""
    return in_places(highlight.mistake["loss"], highlight.match.seats)


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

"""The story of two bots: who has won more, in a sentence, and what that is worth."""

from typing import NamedTuple

from league.models import Bot
from web.selectors.head_to_head import Score


class Story(NamedTuple):
    """How a bot does against another.

    Attributes:
        headline: the result in a sentence, without a full stop.
        worth: whether the result can be luck, as a sentence; "" before they met.
        matches: number and kind of the matches that count; "" before they met.
        score: of the bot; None before they met.
    """

    headline: str
    worth: str
    matches: str
    score: Score | None


def story(bot: Bot, other: Bot, score: Score | None, *, rated: bool) -> Story:
    """Return the story of two bots.

    Args:
        bot: from whose side it is.
        other: its opponent.
        score: of the bot against the other; None before they met.
        rated: whether only rated matches count in the score.
    """
    if score is None:
        return Story(f"{bot.name} and {other.name} have never met", "", "", None)
    kind = "rated" if rated else "unrated"
    matches = f"{score.matches} {kind} match{'' if score.matches == 1 else 'es'}"
    ahead, behind, best = bot.name, other.name, score.share
    if score.share < 1 / 2:
        ahead, behind, best = other.name, bot.name, score.others
    share = f"{ahead} has a win share of {100 * best:.0f}\u00a0%"
    if score.low > 1 / 2 or score.high < 1 / 2:
        headline = f"{ahead} beats {behind} more often"
        worth = f"{share}. Luck alone rarely gives such a result: {ahead} is probably stronger."
    else:
        headline = f"{ahead} is ahead of {behind}"
        if round(100 * best) == 50:
            headline = f"{ahead} and {behind} are level"
        worth = f"{share}. That may be luck: the matches do not show which of the two is stronger."
    return Story(headline, worth, matches, score)

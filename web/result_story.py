"""The stories of challenges and comparisons: a headline, and how far they are, as sentences."""

from django.utils.text import get_text_list

from bots_sdk import verdicts
from engine.rating.sprt import Estimate
from league.competitions.challenges import Result
from league.models import Challenge, Comparison, Match


def challenge_headline(challenge: Challenge) -> str:
    """Return who challenges whom.

    Args:
        challenge: with its bot, and with `bots` and their bots prefetched.
    """
    names = [seat.bot.name for seat in challenge.bots.all() if seat.bot_id != challenge.bot_id]
    return f"{challenge.bot.name} challenges {get_text_list(names, 'and')}"


def challenge_result(challenge: Challenge, result: Result) -> str:
    """Return how many matches the bot of a challenge won, or who challenges whom before the end.

    Args:
        challenge: as for `challenge_headline`.
        result: as `league.competitions.challenges.result` returns it.
    """
    if result.state != Challenge.State.FINISHED or len(result.matches) < 2:
        return challenge_headline(challenge)
    won = sum(_first(match) == [challenge.bot_id] for match in result.matches)
    return f"{challenge.bot.name} wins {won} of {len(result.matches)} matches"


def shared_first_places(challenge: Challenge, result: Result) -> int:
    """Return in how many matches the bot of a challenge shares the first place."""
    first = [_first(match) for match in result.matches]
    return sum(challenge.bot_id in bots for bots in first if len(bots) > 1)


def first_lost(challenge: Challenge, result: Result) -> Match | None:
    """Return the first match of a finished challenge in which others than its bot came first."""
    if result.state != Challenge.State.FINISHED:
        return None
    bot = challenge.bot_id
    return next((match for match in result.matches if bot not in _first(match)), None)


def _first(match: Match) -> list[int]:
    """Return the ids of the bots with the first place of a match, which has its seats."""
    return [seat.bot_id for seat in match.seating.all() if seat.place == 1]


def challenge_state(challenge: Challenge, result: Result) -> str:
    """Return how far a challenge is, or its result.

    Args:
        challenge: with its bot.
        result: as `league.competitions.challenges.result` returns it.
    """
    match result.state:
        case Challenge.State.WAITING:
            return "The matches wait to be played."
        case Challenge.State.PLAYING:
            return f"{result.finished} of {len(result.matches)} matches are over."
        case Challenge.State.FINISHED if result.win_share is not None:
            return f"{challenge.bot.name} has a win share of {100 * result.win_share:.0f} %."
    return "The challenge has no result."


def comparison_headline(comparison: Comparison) -> str:
    """Return which versions of which bot are compared.

    Args:
        comparison: with its bot and versions.
    """
    return f"{comparison.bot.name}: version {comparison.new.number} against {comparison.old.number}"


def comparison_verdict(comparison: Comparison, estimate: Estimate | None) -> str:
    """Return the verdict of a comparison as a headline, or how it looks so far.

    Args:
        comparison: with its versions.
        estimate: the gain of the new version so far.
    """
    new = f"Version {comparison.new.number}"
    match comparison.verdict:
        case "better":
            return f"{new} is better"
        case "not better":
            return f"{new} is not better"
        case "no difference in behaviour":
            return "No difference in behaviour"
        case "" if comparison.state == Comparison.State.CANCELLED:
            return "Cancelled before a verdict"
        case "":
            return verdicts.looks(new, estimate) or "No verdict yet"
    return "Undecided after all blocks"


def comparison_state(comparison: Comparison, blocks: int) -> str:
    """Return the verdict of a comparison in a sentence, or how far it is.

    Args:
        comparison: with its versions.
        blocks: number of finished swap blocks.
    """
    new = f"Version {comparison.new.number}"
    match comparison.verdict:
        case "better":
            return f"{new} is better."
        case "not better":
            return f"{new} is not better."
        case "no difference in behaviour":
            return "No difference in behaviour."
        case "":
            done = f"{blocks} block{'' if blocks == 1 else 's'}"
            if comparison.state == Comparison.State.CANCELLED:
                return f"Cancelled after {done}."
            return f"No verdict yet, after {done}."
    return f"Undecided. {verdicts.SMALL_DIFFERENCE}"

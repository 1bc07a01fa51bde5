"""The sentences about an A/B test of two versions: command line, pages and API share them."""

from engine.games.titles import counted
from engine.rating.sprt import Decision, Estimate, Plan

SWAP_BLOCK = (
    "In a swap block both versions play one deal twice. For the second match they exchange their "
    "seats."
)
LIKELIHOOD = "how probable it is that the new version is stronger"
SMALL_EDITS = "A small edit changes nothing in most swap blocks, so fewer would prove little."
SMALL_DIFFERENCE = "If there is a difference, it is small."
ERROR_RATES = (
    "A verdict can be wrong. We simulated 17 kinds of edits. Of 100 versions that are as strong as "
    "the old version, at most 7 got “better”. Of 100 versions that are 20 Elo better, at least 95 "
    "got “better”."
)


def rule(plan: Plan) -> str:
    """Return how many swap blocks a verdict needs."""
    return (
        f"A verdict needs {plan.min_differing} swap blocks in which the results differ, or "
        f"{plan.guard_blocks} in all."
    )


def claims(plan: Plan) -> str:
    """Return what the test compares."""
    return (
        f"The test compares two claims: “the new version is {plan.elo1:.0f} Elo better” and “both "
        "are equally strong”."
    )


def bounds(plan: Plan) -> str:
    """Return the evidence beyond which the test ends with a verdict."""
    return (
        f"Above {plan.upper:+.2f} the verdict is “better”, and below {plan.lower:+.2f} it is “not "
        "better”."
    )


def meaning(verdict: Decision, new: str, old: str, blocks: int, plan: Plan) -> str:
    """Return what a verdict means, in a sentence or two for people who know no statistics.

    Args:
        verdict: the verdict.
        new: the name of the new version, in the middle of a sentence.
        old: the name of the old version.
        blocks: the number of swap blocks.
        plan: the test.
    """
    played = counted(blocks, "swap block")
    match verdict:
        case Decision.BETTER:
            return f"After {played}, {new} is very probably stronger than {old}."
        case Decision.NOT_BETTER:
            return (
                f"After {played}, {new} is very probably less than {plan.elo1:.0f} Elo stronger "
                f"than {old}. It may be a little stronger, equally strong, or weaker."
            )
        case Decision.NO_DIFFERENCE:
            return f"In {played}, both versions made the same moves."
        case Decision.UNDECIDED:
            return (
                f"After {played}, it is not clear whether {new} is stronger than {old}. "
                f"{SMALL_DIFFERENCE}"
            )


def looks(new: str, found: Estimate | None) -> str | None:
    """Return whether a version looks stronger or weaker so far; None if neither is clear."""
    if found is not None and found.low > 0:
        return f"{new} looks stronger so far"
    if found is not None and found.high < 0:
        return f"{new} looks weaker so far"
    return None

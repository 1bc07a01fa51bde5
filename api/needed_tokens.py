"""The token that each call takes, in the schema: as a sentence, and as security requirements."""

from collections.abc import Set as AbstractSet
from typing import Any

SCHEMES = {
    "owner": {
        "type": "http",
        "scheme": "bearer",
        "description": "An owner token (`tn_o_...`): it manages what an account owns.",
    },
    "bot": {
        "type": "http",
        "scheme": "bearer",
        "description": "A bot token (`tn_b_...`): it plays as one bot.",
    },
    "organiser": {
        "type": "http",
        "scheme": "bearer",
        "description": "The owner token of an organiser, with the scope `organise`.",
    },
}
"""The security schemes by the kind of the token."""

_SENTENCES = {
    "bots_quarantine_show": "Needs the owner token of the bot's owner or of an organiser.",
    "matches_create": "Needs an owner token; at least one of the bots must be yours.",
    "challenges_create": "Needs an owner token; `bot` must be yours.",
    "matches_log": "Needs an owner token; at least one of the bots must be yours.",
}
"""The token of calls for which the problems' codes don't state it."""


def add_token(operation: dict[str, Any], codes: AbstractSet[str]) -> None:
    """Add the token that a call takes to its operation.

    The sentence ends the description. ``x-token`` lists the kinds of which the call needs one, and
    is empty if it needs none. ``security`` has them as OpenAPI defines them.

    Args:
        operation: of the schema.
        codes: of the problems that the call may answer with.
    """
    kinds, sentence = _needed(codes)
    if operation["operationId"] == "bots_quarantine_show":
        kinds = ["owner", "organiser"]
    sentence = _SENTENCES.get(operation["operationId"], sentence)
    operation["description"] += f"\n\n{sentence}"
    operation["x-token"] = kinds
    # A call that needs no token takes one: its rate limit then counts by account or bot.
    operation["security"] = [{kind: []} for kind in kinds or ("owner", "bot")]
    if not kinds:
        operation["security"].insert(0, {})


def _needed(codes: AbstractSet[str]) -> tuple[list[str], str]:
    """Return the kinds of tokens that a call needs, and a sentence on them."""
    of_one_bot = "not-your-bot" in codes
    if "organiser-needed" in codes:
        return ["organiser"], "Needs the owner token of an organiser."
    if "bot-token-needed" in codes:
        return ["bot"], "Needs a bot token."
    if "owner-token-needed" in codes:
        text = "Needs the owner token of the bot's owner." if of_one_bot else None
        return ["owner"], text or "Needs an owner token."
    if "not-authenticated" in codes:
        text = "Needs the bot token, or the owner token of the bot's owner." if of_one_bot else None
        return ["bot", "owner"], text or "Needs an owner token or a bot token."
    return [], "Needs no token."

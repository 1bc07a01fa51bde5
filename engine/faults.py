"""The sentences about faults, which the command line, the pages and the API share.

A reason is a line for the bot's author. It calls the bot "it" and follows the kind of the fault,
such as ``timeout: it did not answer in time``.
"""

from collections.abc import Mapping

NOT_IN_TIME = "it did not answer in time"
TOO_MANY_ILLEGAL = "it sent too many illegal moves"
FORFEITED = "after three faults the referee plays the rest of the match for it"

_NOUNS = {
    "timeout": ("timeout", "timeouts"),
    "illegal": ("illegal move", "illegal moves"),
    "crash": ("crash", "crashes"),
    "forfeit": ("forfeit", "forfeits"),
}


def fault_noun(kind: str, count: int = 1) -> str:
    """Return the noun of a kind of fault, such as "illegal move" for ``illegal``."""
    one, several = _NOUNS.get(kind, (kind, kind))
    return one if count == 1 else several


def count_faults(kinds: Mapping[str, int]) -> str:
    """Return the number of faults of each kind, such as "2 crashes, 1 illegal move"."""
    return ", ".join(f"{count} {fault_noun(kind, count)}" for kind, count in sorted(kinds.items()))


def late(took: float, allowed: float) -> str:
    """Return the reason of a fault: the answer took longer than it could, both in seconds."""
    return f"it answered after {took:.3f} s, but it had only {allowed:.4g} s"

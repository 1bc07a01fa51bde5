"""What a check found: in plain words, with what to do."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How bad it is."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        what: was looked at, in a word or two.
        verdict: `WRONG` is what would go wrong at the league, or be refused there.
        told: what was seen.
        remedy: what to do; empty where there is nothing to do.
        evidence: a traceback, or what was printed; may be empty.
    """

    what: str
    verdict: Verdict
    told: str
    remedy: str = ""
    evidence: str = ""


def bytes_told(count: int) -> str:
    """Return a size as people write it."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1024:.1f} kB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MB"

"""Findings of a check, each with a remedy."""

from dataclasses import dataclass
from enum import StrEnum


class CheckResult(StrEnum):
    """The result of one finding, from good to bad."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding.

    Attributes:
        subject: the subject of the finding, in a word or two.
        result: `WRONG` stands for a failure or a refusal at the league.
        text: what the check found.
        remedy: what to do; empty if there is nothing to do.
        evidence: a traceback, or the output of the bot; may be empty.
    """

    subject: str
    result: CheckResult
    text: str
    remedy: str = ""
    evidence: str = ""


def size_text(count: int) -> str:
    """Return a size with its unit."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1024:.1f} kB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MB"

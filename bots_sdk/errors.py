"""Errors between a program and a league."""

import re
from typing import Any


class LeagueError(Exception):
    """A call failed; the message is one line for a person."""


class UnreachableError(LeagueError):
    """The league does not answer, or the connection ended before the answer.

    Attributes:
        url: the address of the league.
    """

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        super().__init__(f"{url} does not answer ({reason})")


class ProblemError(LeagueError):
    """The league answered with a problem (RFC 9457).

    Attributes:
        code: one of the stable codes of the API; ``unexpected-answer`` if the answer does not come
            from the API, for example a proxy's page.
        status: the HTTP status.
        detail: a sentence about this occurrence.
        members: all members of the problem document, such as ``errors`` or ``legal_moves``.
        retry_after: the seconds to wait before the next attempt; None if the answer has none.
        request_id: the id of the request in the league's log; None if it never got there.
        url: the address of the league; empty if no client made the call.
        remedy: what a person can do, if a command has a better remedy than the code's; else empty.
    """

    url = ""
    remedy = ""

    def __init__(
        self,
        code: str,
        status: int,
        detail: str,
        members: dict[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.code = code
        self.status = status
        self.detail = detail
        self.members = members or {}
        self.retry_after = retry_after
        self.request_id: str | None = self.members.get("request_id")
        errors = self.members.get("errors")
        spelled = _spelled(errors)
        # The detail of invalid input repeats the first of its errors.
        prefixed = f"{self.members.get('title', detail)} {spelled}" if spelled else detail
        super().__init__(_only_sentence(errors) or prefixed)


def _spelled(errors: Any) -> str:
    """Return the errors of the fields as a part of a sentence; empty if there are none."""
    if not isinstance(errors, list):
        return ""
    texts = [
        ": ".join(str(error[key]).rstrip(".") for key in ("field", "message") if error.get(key))
        for error in errors
        if isinstance(error, dict)
    ]
    return "; ".join(texts) + "." if texts else ""


def _only_sentence(errors: Any) -> str:
    """Return the message of the only error if it names its field; else an empty text."""
    if not isinstance(errors, list) or len(errors) != 1 or not isinstance(errors[0], dict):
        return ""
    field, message = (str(errors[0].get(key) or "") for key in ("field", "message"))
    named = re.search(rf"\b{re.escape(field.replace('_', ' '))}\b", message.replace("_", " "))
    return message if field and named else ""

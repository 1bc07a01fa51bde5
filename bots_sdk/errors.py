"""What can go wrong between a program and a league."""

from typing import Any


class LeagueError(Exception):
    """A call did not come out well; the message is one line for a person."""


class UnreachableError(LeagueError):
    """The league does not answer: no connection, or none that held until the answer.

    Attributes:
        url: of the league.
    """

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        super().__init__(f"{url} does not answer ({reason})")


class ProblemError(LeagueError):
    """The league answered with a problem (RFC 9457).

    Attributes:
        code: one of the stable codes of the API; ``unexpected-answer`` where what came is none
            of the API's answers, say a proxy's page.
        status: the HTTP status.
        detail: what happened this time.
        members: all that the problem document says, such as ``errors`` or ``legal_moves``.
        retry_after: seconds to wait before the next try, where the answer says.
        request_id: by which the league's log knows the request, if it got that far.
    """

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
        super().__init__(detail + _spelled(self.members.get("errors")))


def _spelled(errors: Any) -> str:
    """Return the errors by field as a part of a line."""
    if not isinstance(errors, dict):
        return ""
    told = [
        f"{field}: {' '.join(map(str, texts)) if isinstance(texts, list) else texts}"
        for field, texts in errors.items()
    ]
    return " " + "; ".join(told)

"""Bearer tokens (RFC 6750): which requests are refused for their token, and with which problem.

Django's views (`api.authentication`) and the gateway use it.
"""

from api.problems import ProblemError
from league import accounts
from league.models import Bot, Token

CHALLENGE = 'Bearer realm="twelfth-night"'
"""The header ``WWW-Authenticate`` of a 401."""
_NO_SCHEME = (
    "The header Authorization has no bearer token. Write `Bearer` and a space before the token: "
    "Authorization: Bearer TOKEN."
)


def token_text(authorization: str) -> str:
    """Return the token in the header ``Authorization``, empty if there is none."""
    scheme, _, text = authorization.strip().partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""


def find_token(authorization: str) -> Token | None:
    """Return the token in the header ``Authorization``, None if there is none.

    Raises:
        ProblemError: ``invalid-token``.
    """
    text = token_text(authorization)
    return working_token(text, accounts.find_token(text) if text else None)


def working_token(text: str, token: Token | None) -> Token | None:
    """Return the token of a call, None if the client sent none.

    Args:
        text: the token's text, empty if the client sent none.
        token: that has this text and works, None if there is none.

    Raises:
        ProblemError: ``invalid-token``.
    """
    if text and token is None:
        raise _unauthorised("invalid-token")
    return token


def needed_token(token: Token | None, authorization: str = "") -> Token:
    """Return the token of a call that needs one.

    Args:
        token: of the request, None if the client sent none.
        authorization: the header, for the remedy if it lacks the scheme ``Bearer``.

    Raises:
        ProblemError: ``not-authenticated``.
    """
    if token is None:
        lacks_scheme = bool(authorization.strip()) and not token_text(authorization)
        raise _unauthorised("not-authenticated", _NO_SCHEME if lacks_scheme else "")
    return token


def needed_owner_token(token: Token | None, authorization: str = "") -> Token:
    """Return the token of a call that needs an owner token.

    Raises:
        ProblemError: ``not-authenticated`` or ``owner-token-needed``.
    """
    token = needed_token(token, authorization)
    if token.owner_id is None:
        raise ProblemError("owner-token-needed")
    return token


def needed_scope(token: Token | None, scope: str) -> None:
    """Raise unless an owner token has a scope; a bot token needs none of them.

    Raises:
        ProblemError: ``not-authenticated`` or ``scope-needed``.
    """
    token = needed_token(token)
    if token.owner_id is not None and scope not in token.scopes:
        raise ProblemError(
            "scope-needed",
            f"This call needs a token with the scope {scope}; yours has "
            f"{', '.join(token.scopes) or 'none'}. POST /api/v1/tokens returns one with it.",
        )


def needed_bot(token: Token | None, authorization: str = "") -> Bot:
    """Return the bot of a call that needs a bot token.

    Raises:
        ProblemError: ``not-authenticated`` or ``bot-token-needed``.
    """
    bot = needed_token(token, authorization).bot
    if bot is None:
        raise ProblemError("bot-token-needed")
    return bot


def _unauthorised(code: str, detail: str = "") -> ProblemError:
    return ProblemError(code, detail, headers={"WWW-Authenticate": CHALLENGE})

"""Bearer tokens (RFC 6750), and who may do what."""

from typing import Any, ClassVar

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from api.problems import ProblemError
from league import accounts, visibility
from league.models import Bot, Token


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer TOKEN``; ``request.auth`` is the `Token`."""

    def authenticate(self, request: Request) -> tuple[Any, Token] | None:
        """Return the owner (a bot's, with a bot token) and the token; None where none is sent."""
        header: str = request.META.get("HTTP_AUTHORIZATION", "")
        scheme, _, text = header.strip().partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = accounts.find_token(text.strip())
        if token is None:
            raise AuthenticationFailed("This token doesn't work: mistyped, revoked or replaced.")
        return token.owner or (token.bot and token.bot.owner) or AnonymousUser(), token

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401."""
        return 'Bearer realm="twelfth-night"'


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema speaks of `BearerAuthentication`."""

    target_class = "api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the security scheme."""
        return {"type": "http", "scheme": "bearer", "description": "An owner or a bot token."}


class AnyToken(BasePermission):
    """A call for whoever has a token; says 401 without one."""

    problems: ClassVar[tuple[str, ...]] = ("not-authenticated",)

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether there is a token."""
        return request.auth is not None


class OwnerToken(AnyToken):
    """A call that manages."""

    problems: ClassVar[tuple[str, ...]] = ("not-authenticated", "owner-token-needed")

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether there is a token; refuse one of a bot."""
        if request.auth is not None and request.auth.owner_id is None:
            raise ProblemError("owner-token-needed")
        return super().has_permission(request, view)


class BotToken(AnyToken):
    """A call that plays."""

    problems: ClassVar[tuple[str, ...]] = ("not-authenticated", "bot-token-needed")

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether there is a token; refuse one of an owner."""
        if request.auth is not None and request.auth.bot_id is None:
            raise ProblemError("bot-token-needed")
        return super().has_permission(request, view)


class Organiser(OwnerToken):
    """A call for staff and the group `accounts.ORGANISERS`."""

    problems: ClassVar[tuple[str, ...]] = (
        "not-authenticated",
        "owner-token-needed",
        "organiser-needed",
    )

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether there is a token; refuse one of somebody else."""
        if not super().has_permission(request, view):
            return False
        if not accounts.is_organiser(request.user):
            raise ProblemError("organiser-needed")
        return True


def check_owner(request: Request, bot: Bot) -> None:
    """Raise a problem unless the owner token is that of a bot's owner."""
    if not visibility.owns(request.auth.owner, bot):
        raise ProblemError("not-your-bot", f"{bot.name} belongs to somebody else.")


def check_owner_or_bot(request: Request, bot: Bot) -> None:
    """Raise a problem unless the token is that of a bot's owner or of the bot itself."""
    if request.auth.bot_id != bot.pk:
        check_owner(request, bot)

"""Authentication and permissions of the API's views: thin adapters of `api.tokens` for DRF."""

from typing import Any, ClassVar, cast

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from api import tokens
from api.problems import ProblemError
from league import accounts, visibility
from league.models import Bot, Token


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer TOKEN``; ``request.auth`` is the `Token`."""

    def authenticate(self, request: Request) -> tuple[Any, Token] | None:
        """Return the owner (of the bot, with a bot token) and the token; None without a token."""
        try:
            token = tokens.find_token(request.META.get("HTTP_AUTHORIZATION", ""))
        except ProblemError as error:
            # DRF remembers a failed authentication only if it raises DRF's exception.
            raise AuthenticationFailed(error.detail) from None
        if token is None:
            return None
        return token.owner or (token.bot and token.bot.owner) or AnonymousUser(), token

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401."""
        return tokens.CHALLENGE


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # subclassing
    """`BearerAuthentication` in the schema."""

    target_class = "api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the security scheme."""
        return {"type": "http", "scheme": "bearer", "description": "An owner or a bot token."}


class AnyToken(BasePermission):
    """A call for any token.

    Attributes:
        problems: codes of the problems that the permission raises, for the schema.
    """

    problems: ClassVar[tuple[str, ...]] = ("not-authenticated",)

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True, or raise a problem."""
        tokens.needed_token(token_of(request))
        return True


class OwnerToken(AnyToken):
    """A call that manages."""

    problems: ClassVar[tuple[str, ...]] = ("not-authenticated", "owner-token-needed")

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True, or raise a problem."""
        tokens.needed_owner_token(token_of(request))
        return True


class BotToken(AnyToken):
    """A call that plays."""

    problems: ClassVar[tuple[str, ...]] = ("not-authenticated", "bot-token-needed")

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True, or raise a problem."""
        tokens.needed_bot(token_of(request))
        return True


class Organiser(OwnerToken):
    """A call for staff and the group `accounts.ORGANISERS`."""

    problems: ClassVar[tuple[str, ...]] = (
        "not-authenticated",
        "owner-token-needed",
        "organiser-needed",
    )

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True, or raise a problem."""
        super().has_permission(request, view)
        if not accounts.is_organiser(request.user):
            raise ProblemError("organiser-needed")
        return True


def token_of(request: Request) -> Token | None:
    """Return the token of a request; DRF's types name another model."""
    return cast("Token | None", request.auth)


def check_owner(request: Request, bot: Bot) -> None:
    """Raise ``not-your-bot`` unless the owner token is of the bot's owner."""
    token = token_of(request)
    if token is None or not visibility.owns(token.owner, bot):
        raise ProblemError("not-your-bot", f"The bot {bot.name} belongs to another account.")


def check_owner_or_bot(request: Request, bot: Bot) -> None:
    """Raise ``not-your-bot`` unless the token is of the bot or of its owner."""
    token = token_of(request)
    if token is None or token.bot_id != bot.pk:
        check_owner(request, bot)

"""Authentication and permissions of the API's views: thin adapters of `api.tokens` for DRF."""

from typing import Any, ClassVar, cast

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from structlog.contextvars import bind_contextvars

from api import tokens
from api.problems import ProblemError
from league import accounts, visibility
from league.models import Bot, Token


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer TOKEN``; ``request.auth`` is the `Token`."""

    def authenticate(self, request: Request) -> tuple[Any, Token] | None:
        """Return the owner (of the bot, with a bot token) and the token; None without a token."""
        try:
            token = tokens.find_token(_header(request))
        except ProblemError as error:
            # DRF remembers a failed authentication only if it raises DRF's exception.
            raise AuthenticationFailed(error.detail) from None
        if token is None:
            return None
        if token.bot is not None and token.bot.kind == Bot.Kind.PLAYER:
            raise AuthenticationFailed(
                "A play token only makes moves in its match. This call needs another token."
            )
        if token.bot:
            bind_contextvars(bot=token.bot.name)
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

    problems: ClassVar[tuple[str, ...]] = ("not-authenticated", "scope-needed")

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True, or raise a problem."""
        self.check_kind(request)
        tokens.needed_scope(token_of(request), self.scope(request))
        return True

    def check_kind(self, request: Request) -> None:
        """Raise a problem if there is no token, or a token of the wrong kind."""
        tokens.needed_token(token_of(request), _header(request))

    def scope(self, request: Request) -> str:
        """Return the scope that an owner token needs."""
        return Token.Scope.READ if request.method in SAFE_METHODS else Token.Scope.MANAGE


class OwnerToken(AnyToken):
    """A call that manages."""

    problems: ClassVar[tuple[str, ...]] = (*AnyToken.problems, "owner-token-needed")

    def check_kind(self, request: Request) -> None:
        """Raise a problem unless there is an owner token."""
        tokens.needed_owner_token(token_of(request), _header(request))


class BotToken(AnyToken):
    """A call that plays."""

    problems: ClassVar[tuple[str, ...]] = ("not-authenticated", "bot-token-needed")

    def check_kind(self, request: Request) -> None:
        """Raise a problem unless there is a bot token."""
        tokens.needed_bot(token_of(request), _header(request))


class Organiser(OwnerToken):
    """A call for staff and the group `accounts.ORGANISERS`."""

    problems: ClassVar[tuple[str, ...]] = (*OwnerToken.problems, "organiser-needed")

    def check_kind(self, request: Request) -> None:
        """Raise a problem unless there is an owner token of an organiser."""
        super().check_kind(request)
        if not accounts.is_organiser(request.user):
            raise ProblemError("organiser-needed")

    def scope(self, request: Request) -> str:
        """Return the scope that an owner token needs."""
        return Token.Scope.ORGANISE


class EntryToken(AnyToken):
    """A call for any token, and for organisers with their scope alone."""

    def scope(self, request: Request) -> str:
        """Return the scope that an owner token needs."""
        return Token.Scope.ORGANISE if acts_as_organiser(request) else super().scope(request)


def _header(request: Request) -> str:
    return str(request.META.get("HTTP_AUTHORIZATION", ""))


def token_of(request: Request) -> Token | None:
    """Return the token of a request; DRF's types name another model."""
    return cast("Token | None", request.auth)


def acts_as_organiser(request: Request) -> bool:
    """Return whether the owner token is an organiser's and has the scope to decide."""
    token = token_of(request)
    return (
        token is not None
        and token.owner is not None
        and Token.Scope.ORGANISE in token.scopes
        and accounts.is_organiser(token.owner)
    )


def check_owner(request: Request, bot: Bot) -> None:
    """Raise ``not-your-bot`` unless the owner token is of the bot's owner."""
    token = token_of(request)
    if token is None or not visibility.owns(token.owner, bot):
        whose = "the league: it is a house bot" if bot.kind == Bot.Kind.HOUSE else "another account"
        raise ProblemError("not-your-bot", f"The bot {bot.name} belongs to {whose}.")


def check_owner_or_bot(request: Request, bot: Bot) -> None:
    """Raise ``not-your-bot`` unless the token is of the bot or of its owner."""
    token = token_of(request)
    if token is not None and token.bot_id not in (None, bot.pk):
        raise ProblemError(
            "not-your-bot",
            f"This token belongs to another bot. Use the token of {bot.name}, or the owner token.",
        )
    if token is None or token.bot_id != bot.pk:
        check_owner(request, bot)

"""Accounts and tokens."""

from typing import ClassVar

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import AnyToken, OwnerToken, token_of
from api.base import ApiView, ListView, checked, created, signed_in
from api.operations import operation
from api.pagination import PageQuery
from api.problems import ProblemError
from api.schema import NO_CONTENT
from api.serializers.accounts import (
    CredentialsSerializer,
    NewTokenSerializer,
    OwnerTokenSerializer,
    PasswordChangeSerializer,
    TokenSerializer,
)
from league import accounts
from league.models import Token


class AccountsView(ApiView):
    """The accounts."""

    rate = "accounts"

    @operation("accounts_create", body=CredentialsSerializer, answers={201: OwnerTokenSerializer})
    def post(self, request: Request) -> Response:
        """Sign up: create an account and get its first owner token."""
        user, token = accounts.create_account(**checked(CredentialsSerializer, request))
        return _new_token(user, token)


class PasswordView(ApiView):
    """The password of an account."""

    rate = "passwords"
    problems: ClassVar = {"POST": ("wrong-credentials",)}

    @operation("accounts_password", body=PasswordChangeSerializer, answers={204: NO_CONTENT})
    def post(self, request: Request) -> Response:
        """Change the password of an account; all its sessions on the pages end."""
        sent = checked(PasswordChangeSerializer, request)
        new, revoke = sent.pop("new_password"), sent.pop("revoke_tokens")
        user = authenticate(request._request, **sent)
        if not isinstance(user, User):
            raise ProblemError("wrong-credentials")
        accounts.set_password(user, new, revoke_tokens=revoke)
        return Response(status=204)


class TokensView(ListView):
    """The tokens of an account."""

    rates: ClassVar = {"POST": "passwords"}
    needs: ClassVar = {"GET": OwnerToken}
    problems: ClassVar = {"POST": ("wrong-credentials",)}
    ordering: ClassVar = ("-id",)

    @operation("tokens_list", query=PageQuery, answers=TokenSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List your owner tokens and the tokens of your bots, the newest first."""
        return self.answer(TokenSerializer, self.page(accounts.tokens_of(signed_in(request))))

    @operation("tokens_create", body=NewTokenSerializer, answers={201: OwnerTokenSerializer})
    def post(self, request: Request) -> Response:
        """Sign in: get one more owner token for an account."""
        sent = checked(NewTokenSerializer, request)
        credentials = {name: sent.pop(name) for name in ("username", "password")}
        user = authenticate(request._request, **credentials)
        if not isinstance(user, User):
            raise ProblemError("wrong-credentials")
        return _new_token(user, accounts.new_owner_token(user, **sent))


class TokenView(ApiView):
    """A token of an account."""

    needs: ClassVar = {"GET": OwnerToken, "DELETE": OwnerToken}

    @operation("tokens_show", answers=TokenSerializer)
    def get(self, request: Request, token_id: int) -> Response:
        """Get a token of yours, without its text."""
        return Response(TokenSerializer(_find(request, token_id)).data)

    @operation("tokens_delete", answers={204: NO_CONTENT})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke a token of yours: it stops working."""
        accounts.revoke(_find(request, token_id))
        return Response(status=204)


class RevokingAllowed(AnyToken):
    """A call for any token, whatever its scopes."""

    problems: ClassVar[tuple[str, ...]] = ("not-authenticated",)

    def has_permission(self, request: Request, view: object) -> bool:
        """Return True, or raise a problem."""
        self.check_kind(request)
        return True


class CurrentTokenView(ApiView):
    """The token of a request."""

    needs: ClassVar = {"GET": RevokingAllowed, "DELETE": RevokingAllowed}

    @operation("tokens_current", answers=TokenSerializer)
    def get(self, request: Request) -> Response:
        """Get the token that you send with this request, without its text."""
        return Response(TokenSerializer(_sent(request)).data)

    @operation("tokens_revoke", answers={204: NO_CONTENT})
    def delete(self, request: Request) -> Response:
        """Revoke the token that you send with this request."""
        accounts.revoke(_sent(request))
        return Response(status=204)


def _new_token(user: User, text: str) -> Response:
    token = accounts.find_token(text, is_use=False)
    if token is None:  # the account is locked
        raise ProblemError("wrong-credentials")
    data = {
        "username": user.get_username(),
        "id": token.pk,
        "scopes": token.scopes,
        "expires_at": token.expires_at,
        "token": text,
    }
    return created(data, "tokens", token.pk)


def _find(request: Request, token_id: int) -> Token:
    token = accounts.tokens_of(signed_in(request)).filter(pk=token_id).first()
    if token is None:
        raise ProblemError("not-found", f"You have no token {token_id}.")
    return token


def _sent(request: Request) -> Token:
    token = token_of(request)
    assert token is not None  # the permission needs one
    return token

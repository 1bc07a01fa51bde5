"""Accounts and owner tokens."""

from typing import ClassVar, cast

from django.contrib.auth import authenticate
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import AnyToken
from api.base import ApiView, checked
from api.operations import operation
from api.problems import ProblemError
from api.schema import NO_CONTENT
from api.serializers.accounts import CredentialsSerializer, OwnerTokenSerializer
from league import accounts
from league.models import Token


class AccountsView(ApiView):
    """The accounts."""

    rate = "accounts"

    @operation(
        "accounts_create",
        body=CredentialsSerializer,
        answers={201: OwnerTokenSerializer},
    )
    def post(self, request: Request) -> Response:
        """Sign up: create an account and get its first owner token."""
        user, token = accounts.create_account(**checked(CredentialsSerializer, request))
        return Response({"username": user.username, "token": token}, 201)


class TokensView(ApiView):
    """The owner tokens of an account."""

    rate = "passwords"
    problems: ClassVar = {"POST": ("wrong-credentials",)}

    @operation(
        "tokens_create",
        body=CredentialsSerializer,
        answers={201: OwnerTokenSerializer},
    )
    def post(self, request: Request) -> Response:
        """Sign in: get one more owner token for an account."""
        user = authenticate(request._request, **checked(CredentialsSerializer, request))
        if user is None:
            raise ProblemError("wrong-credentials")
        token = accounts.new_owner_token(user)
        return Response({"username": user.get_username(), "token": token}, 201)


class CurrentTokenView(ApiView):
    """The token of a request."""

    needs: ClassVar = {"DELETE": AnyToken}

    @operation("tokens_revoke", answers={204: NO_CONTENT})
    def delete(self, request: Request) -> Response:
        """Revoke the token that you send with this request."""
        accounts.revoke(cast(Token, request.auth))
        return Response(status=204)

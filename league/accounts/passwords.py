"""Signing in: pages, admin and API check passwords by this backend, which limits wrong passwords.

Each address may try some passwords for an account. All addresses together from which nobody has
signed in to the account may try more. So a guesser with many addresses is stopped, and the owner at
a usual address is not. A name without an account has the same limits, and the same answers.
"""

import hashlib
import unicodedata
from contextlib import suppress
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpRequest
from redis.exceptions import RedisError

from league.accounts import throttles
from league.accounts.throttles import Usage

_REMEMBERED_SECONDS = 30 * 24 * 3600
"""Time for which an address counts as usual after its owner has signed in from there."""


class TooManyTriesError(Exception):
    """Too many wrong passwords were tried for an account.

    Attributes:
        usage: of the limit.
    """

    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        super().__init__(
            f"Too many wrong passwords for this account. Try again in {usage.reset_seconds} s."
        )


class PasswordBackend(ModelBackend):
    """Django's accounts, with limits on wrong passwords."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Return the user with a name and a password, or None.

        Raises:
            TooManyTriesError: before a hash is computed.
            BusyError: too many hashes are being computed.
        """
        if request is None or username is None or password is None:
            return super().authenticate(request, username, password, **kwargs)
        account = _key(username)
        here = f"{account}@{throttles.client_by_request(request)}"
        counted = [("guesses", here)]
        if not _is_usual(here):
            counted.append(("account-guesses", account))
        for policy, client in counted:
            usage = throttles.count(policy, client)
            if usage is not None and usage.is_exceeded:
                raise TooManyTriesError(usage)
        user = super().authenticate(request, username, password, **kwargs)
        if user is not None:
            for policy, client in counted:
                throttles.give_back(policy, client)
            _remember(here)
        return user


def _key(username: str) -> str:
    """Return a short text that stands for an account's name in any case of letters."""
    name = unicodedata.normalize("NFKC", username).casefold()
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:24]


def _is_usual(here: str) -> bool:
    with suppress(RedisError, OSError):
        return bool(cache.get(f"usual:{here}"))
    return False


def _remember(here: str) -> None:
    with suppress(RedisError, OSError):
        cache.set(f"usual:{here}", 1, timeout=_REMEMBERED_SECONDS)

"""Changing a password, and one-time links that let a person set a new one.

A link works until `settings.PASSWORD_RESET_TIMEOUT` is over, or until the password changes or the
person signs in, whichever is first. Nothing is stored for it: Django's generator signs the id, the
password hash and the last sign-in of the account.
"""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from league.accounts.people import is_organiser
from league.models import Token


class _Links(PasswordResetTokenGenerator):
    """Signs links that also end when the account gets other rights.

    Who may issue a link depends on them, so an organiser's link is no way to their rights.
    """

    key_salt = "league.accounts.password_changes"

    def _make_hash_value(self, user: AbstractBaseUser, timestamp: int) -> str:
        assert isinstance(user, User)
        rights = f"{is_organiser(user)}{user.is_staff}{user.is_superuser}"
        return f"{super()._make_hash_value(user, timestamp)}{rights}"


_links = _Links()


def set_password(user: User, password: str, *, revoke_tokens: bool = False) -> None:
    """Set a new password; all sessions of the account end.

    Args:
        user: the account.
        password: the new one.
        revoke_tokens: whether its owner tokens stop working too. Bot tokens keep working.

    Raises:
        ValidationError: by field ``new_password``: it is too easy to guess.
        BusyError: too many hashes are being computed.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationError({"new_password": error.error_list}) from None
    user.set_password(password)
    with transaction.atomic():
        user.save(update_fields=["password"])
        if revoke_tokens:
            Token.objects.filter(owner=user).delete()


def new_reset(user: User) -> tuple[str, str]:
    """Return the two parts of a link with which a person sets a new password: uid and token."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return uid, _links.make_token(user)


def user_of_reset(uid: str, token: str, *, lock: bool = False) -> User | None:
    """Return the account of a reset link; None if the link does not work any more.

    Args:
        uid: of the link.
        token: of the link.
        lock: whether to lock the account, so that the link works once.
    """
    try:
        key = int(urlsafe_base64_decode(uid))
    except (ValueError, OverflowError):
        return None
    users = User.objects.select_for_update(no_key=True) if lock else User.objects.all()
    user = users.filter(pk=key, is_active=True).first() if key < 2**31 else None
    return user if user and _links.check_token(user, token) else None


def reset_password(uid: str, token: str, password: str, *, revoke_tokens: bool) -> User | None:
    """Set a new password with a reset link; return the account, None if the link is over.

    Raises:
        ValidationError, BusyError: as `set_password`.
    """
    with transaction.atomic():
        user = user_of_reset(uid, token, lock=True)
        if user is not None:
            set_password(user, password, revoke_tokens=revoke_tokens)
    return user


def may_reset(organiser: User, user: User) -> bool:
    """Return whether an organiser may issue a link for an account.

    A person with the link can sign in as the account. So an organiser issues no link for other
    organisers, staff or superusers; the operator has a command for these.
    """
    return is_organiser(organiser) and not is_organiser(user) and not user.is_superuser

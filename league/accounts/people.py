"""People: accounts and organisers."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q

from league.accounts.tokens import new_owner_token

ORGANISERS = "organisers"
"""The Django group of organisers, who set up tournaments; staff may too."""


def create_account(*, username: str, password: str) -> tuple[User, str]:
    """Create an account; return it and the text of its first owner token.

    Raises:
        ValidationError: by field: the name is taken (in any case of letters), looks like another
            one or is malformed, or the password is too easy to guess.
        BusyError: too many hashes are being computed.
    """
    users = get_user_model()
    user = users(username=username)
    errors: dict[str, list[ValidationError]] = {}
    try:
        user.clean_fields(exclude=["password"])
    except ValidationError as error:
        errors.update(error.error_dict)
    else:
        if users.objects.filter(username__iexact=user.username).exists():
            errors["username"] = [name_taken("username", user.username)]
    try:
        validate_password(password, user)
    except ValidationError as error:
        errors["password"] = error.error_list
    if errors:
        raise ValidationError(errors)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
            return user, new_owner_token(user)
    except IntegrityError:
        raise ValidationError({"username": [name_taken("username", user.username)]}) from None


def is_organiser(user: Any) -> bool:
    """Return whether a user may set up tournaments: staff, and the group `ORGANISERS`."""
    return bool(
        user.is_authenticated and (user.is_staff or user.groups.filter(name=ORGANISERS).exists())
    )


def is_operator(user: Any) -> bool:
    """Return whether a person sees the operator's pages: staff does."""
    return bool(user.is_authenticated and user.is_staff)


def has_other_organisers(user: User) -> bool:
    """Return whether an organiser other than this user can sign in."""
    organisers = Q(is_staff=True) | Q(groups__name=ORGANISERS)
    return User.objects.filter(organisers, is_active=True).exclude(pk=user.pk).exists()


def name_taken(field: str, value: str, text: str = "") -> ValidationError:
    """Return the error for a name that is taken, with a more exact text if there is one."""
    return ValidationError(
        text or "The %(field)s %(value)s is taken; choose another.",
        code="taken",
        params={"field": field, "value": value},
    )

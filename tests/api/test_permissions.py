"""Permissions of every operation, for every spelling of its method."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.permissions import BasePermission

from api.authentication import BotToken, OwnerToken
from api.urls import urlpatterns
from api.views.base import ApiView
from league.models import Bot
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db


def guarded() -> Iterator[Any]:
    """Give each path and method that needs a token, with its permission; HEAD beside GET."""
    for pattern in urlpatterns:
        view = getattr(pattern.callback, "cls", None)
        if view is None or not issubclass(view, ApiView):
            continue
        path = re.sub(r"<slug:\w+>", "ada-bot", re.sub(r"<int:\w+>", "1", str(pattern.pattern)))
        for method, permission in view.needs.items():
            for spelt in ("GET", "HEAD") if method == "GET" else (method,):
                yield pytest.param(spelt, path, permission, id=f"{spelt} {path}")


@pytest.mark.parametrize(("method", "path", "permission"), list(guarded()))
def test_a_call_without_its_token_is_a_problem(
    api: Api,
    bot: tuple[Bot, str],
    ada: tuple[User, str],
    method: str,
    path: str,
    permission: type[BasePermission],
) -> None:
    assert api.call(method, path).status_code == 401
    wrong = {OwnerToken: bot[1], BotToken: ada[1]}
    for needed, token in wrong.items():
        if issubclass(permission, needed):
            assert api.call(method, path, token=token).status_code == 403

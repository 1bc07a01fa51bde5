"""Uploading versions, and what their owner alone may read of them."""

import io
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from bots_sdk.sandbox.sources import MAX_BYTES
from league import bots
from league.models import Bot, BotVersion, QualifyingMatch
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league.bots.uploaded import FIRST, RAISES, hosted_bot
from tests.responses import Response

pytestmark = pytest.mark.django_db


@pytest.fixture
def hosted(api: Api, ada: tuple[User, str]) -> str:
    api.post("bots", {"name": "my-bot", "kind": "hosted"}, token=ada[1])
    return "my-bot"


def upload(api: Api, token: str, name: str, data: bytes, note: str = "", **form: Any) -> Response:
    source = SimpleUploadedFile("bot.py", data)
    return api.client.post(
        f"/api/v1/bots/{name}/versions",
        {"source": source, "note": note, **form},
        headers={"Authorization": f"Bearer {token}"},
    )


def test_an_upload_is_answered_at_once_with_the_version_being_checked(
    api: Api, ada: tuple[User, str], hosted: str
) -> None:
    answer = upload(api, ada[1], hosted, FIRST, "first try")
    assert answer.status_code == 202
    version = answer.json()
    assert (version["bot"], version["number"], version["state"]) == (hosted, 1, "checking")
    assert version["note"] == "first try"
    assert api.get(f"bots/{hosted}").json()["version"] is None


def test_only_the_owner_downloads_the_uploaded_file(
    api: Api, ada: tuple[User, str], eve: tuple[User, str], hosted: str
) -> None:
    upload(api, ada[1], hosted, FIRST)
    source = api.get(f"bots/{hosted}/versions/1/source", token=ada[1])
    assert source.content == FIRST
    for what in ("source", "log"):
        path = f"bots/{hosted}/versions/1/{what}"
        assert_problem(api.get(path, token=eve[1]), 403, "not-your-bot")
        assert_problem(api.get(path), 401, "not-authenticated")
        assert_problem(api.get(path.replace("/1/", "/7/"), token=ada[1]), 404, "not-found")


def test_only_the_log_has_the_reason_why_a_version_was_refused(
    api: Api, ada: tuple[User, str], hosted: str
) -> None:
    upload(api, ada[1], hosted, RAISES)
    [version] = [row.pk for row in BotVersion.objects.all()]
    bots.check_version(version)
    log = api.get(f"bots/{hosted}/versions/1/log", token=ada[1]).json()
    assert log["state"] == "refused"
    assert "gold" in log["reason"]
    assert log["qualifying"][0]["printed"].startswith("about to\n")
    assert log["qualifying"][0]["observation"]["legal_moves"]
    shown = api.get(f"bots/{hosted}/versions/1").json()
    assert shown["state"] == "refused"
    assert not {"reason", "qualifying", "source"} & shown.keys()


def test_a_file_that_is_no_bot_is_refused_with_the_reason(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str], hosted: str
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../bot.py", FIRST)
    [error] = assert_problem(upload(api, ada[1], hosted, packed.getvalue()), 400, "invalid")[
        "errors"
    ]
    assert error["field"] == "source"
    assert "../bot.py" in error["message"]
    assert "source" in fields_of(assert_problem(upload(api, ada[1], hosted, b""), 400, "invalid"))
    assert_problem(upload(api, ada[1], "ada-bot", FIRST), 400, "invalid")
    too_large = b"#" * (MAX_BYTES + 1)
    assert_problem(upload(api, ada[1], hosted, too_large), 413, "body-too-large")
    assert_problem(upload(api, ada[1], hosted, too_large * 2), 413, "body-too-large")
    assert upload(api, ada[1], hosted, too_large[:-1]).status_code == 202


def test_an_upload_as_json_or_without_a_file_is_a_problem(
    api: Api, ada: tuple[User, str], eve: tuple[User, str], hosted: str
) -> None:
    path = f"bots/{hosted}/versions"
    assert_problem(api.post(path, {}, token=ada[1]), 415, "unsupported-media-type")
    answer = api.client.post(
        f"/api/v1/{path}", {"note": "x"}, headers={"Authorization": f"Bearer {ada[1]}"}
    )
    assert "source" in fields_of(assert_problem(answer, 400, "invalid"))
    assert_problem(upload(api, eve[1], hosted, FIRST), 403, "not-your-bot")


def test_an_owner_changes_the_note_of_a_version_and_withdraws_it_during_its_check(
    api: Api, ada: tuple[User, str], eve: tuple[User, str]
) -> None:
    bot = hosted_bot(ada[0], "swan")
    bots.upload(bot=bot, data=FIRST, note="first try")
    path = "bots/swan/versions/1"
    note = {"note": "counts cards"}
    assert_problem(api.call("PATCH", path, note, token=eve[1]), 403, "not-your-bot")
    assert_problem(api.post(f"{path}/withdraw", token=eve[1]), 403, "not-your-bot")
    assert api.call("PATCH", path, note, token=ada[1]).json()["note"] == "counts cards"
    assert api.post(f"{path}/withdraw", token=ada[1]).json()["state"] == "refused"
    log = api.get(f"{path}/log", token=ada[1]).json()
    assert log["reason"] == "Its owner withdrew it during its check."
    assert not bots.check_version(bot.versions.get().pk)
    assert_problem(api.post(f"{path}/withdraw", token=ada[1]), 409, "not-checking")


def test_a_version_in_check_shows_how_long_the_last_checks_took(
    api: Api, ada: tuple[User, str]
) -> None:
    bot = hosted_bot(ada[0], "swan")
    first = bots.upload(bot=bot, data=FIRST)
    assert api.get("bots/swan/versions/1").json()["check_seconds_left"] is None
    match = QualifyingMatch.objects.create(version=first, game="partridge", passed=True)
    QualifyingMatch.objects.filter(pk=match.pk).update(
        played_at=first.created_at + timedelta(seconds=40)
    )
    BotVersion.objects.filter(pk=first.pk).update(state="ready")
    bots.upload(bot=bot, data=FIRST)
    left = api.get("bots/swan/versions/2").json()["check_seconds_left"]
    assert left == pytest.approx(40, abs=10)
    assert api.get("bots/swan/versions/1").json()["check_seconds_left"] is None


def test_the_file_that_plays_already_becomes_a_version_only_if_the_owner_sends_again(
    api: Api, ada: tuple[User, str], hosted: str
) -> None:
    upload(api, ada[1], hosted, FIRST)
    problem = assert_problem(upload(api, ada[1], hosted, FIRST), 409, "same-file")
    assert problem["version"] == 1
    assert "version 1 of my-bot, which is being checked" in problem["detail"]
    bots.check_version(BotVersion.objects.get().pk)
    assert_problem(upload(api, ada[1], hosted, FIRST), 409, "same-file")
    assert upload(api, ada[1], hosted, FIRST + b"# more\n").json()["number"] == 2
    assert upload(api, ada[1], hosted, FIRST, again="true").json()["number"] == 3


def test_a_refused_file_may_be_uploaded_again(api: Api, ada: tuple[User, str], hosted: str) -> None:
    upload(api, ada[1], hosted, RAISES)
    bots.check_version(BotVersion.objects.get().pk)
    assert upload(api, ada[1], hosted, RAISES).json()["number"] == 2

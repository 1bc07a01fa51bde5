"""``Idempotency-Key``: a creating request runs once, and its repetitions get its answer."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from psycopg.errors import LockNotAvailable
from pytest_django import Settings

from api.schema import openapi_schema
from league import accounts, competitions
from league.accounts import repetitions
from league.models import Bot, BotVersion, FirstAnswer, Match, Token, Tournament
from league.moderation import quarantines
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small
from tests.league.at_once import SECONDS, in_thread
from tests.league.bots.uploaded import FIRST
from tests.responses import Response

pytestmark = pytest.mark.django_db
KEY = {"Idempotency-Key": "my-key-1"}
BOT = {"name": "my-bot", "kind": "remote"}
NEW = {"username": "bob", "password": "a long enough secret"}


def test_a_repeated_creation_gets_the_first_answer_with_a_new_token(
    api: Api, ada: tuple[User, str]
) -> None:
    first = api.post("bots", BOT, token=ada[1], **KEY)
    again = api.post("bots", BOT, token=ada[1], **KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert ("Idempotent-Replayed" in first, again["Idempotent-Replayed"]) == (False, "true")
    assert first["Location"] == again["Location"] == "/api/v1/bots/my-bot"
    assert {**first.json(), "token": ""} == {**again.json(), "token": ""}
    assert_problem(api.get("games", token=first.json()["token"]), 401, "invalid-token")
    assert api.get("games", token=again.json()["token"]).status_code == 200
    assert Bot.objects.count() == 1


def test_without_a_key_a_second_creation_is_another_request(
    api: Api, ada: tuple[User, str]
) -> None:
    assert api.post("bots", BOT, token=ada[1]).status_code == 201
    assert_problem(api.post("bots", BOT, token=ada[1]), 400, "invalid")


def test_signing_up_again_with_the_key_gets_a_new_token_of_the_same_account(api: Api) -> None:
    first, again = (api.post("accounts", NEW, **KEY).json() for _ in range(2))
    assert first["id"] == again["id"]
    assert_problem(api.get("games", token=first["token"]), 401, "invalid-token")
    assert api.get("tokens", token=again["token"]).status_code == 200
    assert (User.objects.count(), Token.objects.count()) == (1, 1)


def test_no_token_and_no_password_is_stored_with_an_answer(api: Api) -> None:
    token = api.post("accounts", NEW, **KEY).json()["token"]
    stored = str(FirstAnswer.objects.values().get())
    assert token not in stored
    assert NEW["password"] not in stored


@pytest.mark.parametrize(
    ("path", "body"), [("bots", {**BOT, "name": "other"}), ("bots?", BOT), ("matches", BOT)]
)
def test_a_key_belongs_to_one_request(
    api: Api, ada: tuple[User, str], path: str, body: Any
) -> None:
    api.post("bots", BOT, token=ada[1], **KEY)
    answer = api.post(path, body, token=ada[1], **KEY)
    if path == "bots?":
        assert answer.status_code == 201
    else:
        assert_problem(answer, 422, "idempotency-key-reused")


def test_each_client_has_its_own_keys(
    api: Api, ada: tuple[User, str], eve: tuple[User, str]
) -> None:
    assert api.post("bots", BOT, token=ada[1], **KEY).status_code == 201
    answer = api.post("bots", {**BOT, "name": "eves-bot"}, token=eve[1], **KEY)
    assert answer.status_code == 201


def test_a_refused_request_may_be_corrected_with_the_same_key(
    api: Api, ada: tuple[User, str]
) -> None:
    assert_problem(api.post("bots", {**BOT, "name": "?"}, token=ada[1], **KEY), 400, "invalid")
    assert api.post("bots", BOT, token=ada[1], **KEY).status_code == 201


def test_a_key_is_free_after_a_day(api: Api, ada: tuple[User, str]) -> None:
    api.post("bots", BOT, token=ada[1], **KEY)
    FirstAnswer.objects.update(created_at=timezone.now() - timedelta(hours=24))
    answer = api.post("bots", {**BOT, "name": "other"}, token=ada[1], **KEY)
    assert answer.status_code == 201
    assert repetitions.sweep(timezone.now()) == 0
    assert repetitions.sweep(timezone.now() + timedelta(hours=24)) == 1


def test_if_the_first_token_was_revoked_a_repetition_gets_none(api: Api) -> None:
    token = api.post("accounts", NEW, **KEY).json()["token"]
    assert api.call("DELETE", "tokens/current", token=token).status_code == 204
    assert_problem(api.post("accounts", NEW, **KEY), 409, "idempotency-key-spent")
    assert not Token.objects.exists()


def test_an_address_with_a_long_name_in_another_script_is_repeated(
    api: Api, organiser: str
) -> None:
    name = "ж" * 150
    accounts.create_account(username=name, password=NEW["password"])
    path, body = f"accounts/{name}/quarantine", {"reason": "x"}
    first, again = (api.post(path, body, token=organiser, **KEY) for _ in range(2))
    assert (first.status_code, again["Idempotent-Replayed"]) == (201, "true")
    assert first["Location"] == again["Location"]
    assert api.get(first["Location"], token=organiser).json() == first.json()


@pytest.mark.parametrize("key", ["", "two words", "x" * 256, "ä"])
def test_a_malformed_key_is_refused(api: Api, ada: tuple[User, str], key: str) -> None:
    answer = api.post("bots", BOT, token=ada[1], **{"Idempotency-Key": key})
    assert fields_of(assert_problem(answer, 400, "invalid")) == {"Idempotency-Key"}


def upload(api: Api, token: str, data: bytes = FIRST) -> Response:
    return api.client.post(
        "/api/v1/bots/my-bot/versions",
        {"source": SimpleUploadedFile("bot.py", data), "note": "first"},
        headers={"Authorization": f"Bearer {token}", **KEY},
    )


def test_an_upload_that_is_sent_twice_makes_one_version(api: Api, ada: tuple[User, str]) -> None:
    api.post("bots", {**BOT, "kind": "hosted"}, token=ada[1])
    first, again = upload(api, ada[1]), upload(api, ada[1])
    assert first.status_code == 202
    assert first["Location"] == "/api/v1/bots/my-bot/versions/1"
    assert first.json() == again.json()
    assert BotVersion.objects.count() == 1
    assert_problem(upload(api, ada[1], FIRST + b"\n"), 422, "idempotency-key-reused")


def test_every_creation_has_a_location_and_takes_a_key(
    api: Api, ada: tuple[User, str], organiser: str
) -> None:
    small.ladder()
    small.bots(2, prefix="house")
    api.post("bots", BOT, token=ada[1])
    starts_at = (timezone.now() + timedelta(days=1)).isoformat()
    bodies: dict[str, Callable[[], tuple[Any, str]]] = {
        "tournaments": lambda: (
            {"title": "Cup", "ladder": "quick", "starts_at": starts_at},
            organiser,
        ),
        "matches": lambda: (
            {"game": "partridge", "rules": "eagle", "bots": ["my-bot", "house-0"]},
            ada[1],
        ),
        "tokens": lambda: ({"username": "ada", "password": "a long enough secret"}, ""),
    }
    for path, make in bodies.items():
        body, token = make()
        first = api.post(path, body, token=token, **{"Idempotency-Key": path})
        assert first.status_code == 201, first.content
        again = api.post(path, body, token=token, **{"Idempotency-Key": path})
        assert again["Location"] == first["Location"]
        owner = first.json().get("token") and again.json()["token"]
        shown = api.get(first["Location"], token=owner or "")
        assert shown.json()["id"] == first.json()["id"]
    assert (Match.objects.count(), Tournament.objects.count()) == (1, 1)


def test_the_schema_of_every_creation_has_location_and_key() -> None:
    for methods in openapi_schema()["paths"].values():
        for operation in methods.values():
            creates = {"201", "202"} & {*operation["responses"]}
            names = {parameter["name"] for parameter in operation.get("parameters", [])}
            assert ("Idempotency-Key" in names) == bool(creates), operation["operationId"]
            for status in creates:
                assert operation["responses"][status]["headers"]["Location"]["required"]


@pytest.mark.django_db(transaction=True)
def test_two_requests_with_one_key_at_once_run_one_after_the_other(
    api: Api, ada: tuple[User, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on = threading.Event(), threading.Event()
    take = repetitions._take
    runs: list[int] = []

    def slowly(*args: Any) -> Any:
        row = take(*args)
        runs.append(1)
        began.set()
        assert go_on.wait(20)
        return row

    monkeypatch.setattr(repetitions, "_take", slowly)
    answers: list[Response] = []

    def send() -> None:
        try:
            answers.append(Api().post("bots", BOT, token=ada[1], **KEY))
        finally:
            connection.close()

    first = threading.Thread(target=send)
    first.start()
    assert began.wait(20)
    second = threading.Thread(target=send)
    second.start()
    go_on.set()
    first.join()
    second.join()
    assert [answer.status_code for answer in answers] == [201, 201]
    assert sorted("Idempotent-Replayed" in answer for answer in answers) == [False, True]
    assert len(runs) == 1
    assert Bot.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_repetition_does_not_wait_for_ever_for_the_first_request(
    api: Api, ada: tuple[User, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repetitions, "_WAIT_SECONDS", 0.1)
    held, go_on = threading.Event(), threading.Event()

    def hold() -> None:

        try:
            with transaction.atomic():
                client = f"owner:{ada[0].pk}"
                FirstAnswer.objects.create(client=client, key=KEY["Idempotency-Key"])
                held.set()
                assert go_on.wait(20)
        finally:
            connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(20)
    answer = api.post("bots", BOT, token=ada[1], **KEY)
    go_on.set()
    holder.join()
    assert_problem(answer, 409, "idempotency-key-in-use")
    assert answer["Retry-After"] == "2"


@pytest.mark.django_db(transaction=True)
def test_a_quarantine_with_a_key_does_not_block_the_deletion_of_its_bot(
    api: Api, ada: tuple[User, str], organiser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [bot] = small.bots(1, owner=ada[0])
    competitions.enter_ladder(ladder=small.ladder(), bot=bot)
    stop = quarantines._stop_new_matches
    deletions: list[Future[bool]] = []

    def late(*args: Any) -> None:
        deletions.append(in_thread(lambda: competitions.delete_bot(bot)))
        wait(deletions, timeout=1)  # it holds the lock of the ladder
        stop(*args)

    monkeypatch.setattr(quarantines, "_stop_new_matches", late)
    answer = api.post(f"bots/{bot}/quarantine", {"reason": "x"}, token=organiser, **KEY)
    assert answer.status_code == 201
    assert deletions[0].result(SECONDS) is True


def test_a_repetition_does_not_depend_on_the_language_of_the_database(
    api: Api, ada: tuple[User, str]
) -> None:
    def waits(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        if sql.startswith('INSERT INTO "league_firstanswer"'):
            text = "storniere Anfrage wegen Zeitüberschreitung einer Sperre"
            raise OperationalError(text) from LockNotAvailable(text)
        return execute(sql, *arguments)

    with connection.execute_wrapper(waits):
        answer = api.post("bots", BOT, token=ada[1], **KEY)
    assert_problem(answer, 409, "idempotency-key-in-use")


@pytest.mark.django_db
def test_two_addresses_without_a_token_may_send_the_same_key(api: Api, settings: Settings) -> None:
    """An IPv6 network has the longest text of a client."""
    settings.TRUSTED_PROXIES = [ip_network("127.0.0.1")]
    addresses = {"ada": "203.0.113.5", "eve": "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff"}
    for name, address in addresses.items():
        body = {"username": name, "password": "a long enough secret"}
        for is_repeated in (False, True):
            answer = api.post("accounts", body, **KEY, **{"X-Forwarded-For": address})
            assert answer.status_code == 201, answer.content
            assert ("Idempotent-Replayed" in answer) == is_repeated

"""Moderation over the API: quarantines, blocks, tournaments, the log; each with its way back."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from league import bots, competitions, ratings
from league.models import Bot, Ladder, Tournament
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small

pytestmark = pytest.mark.django_db


def first_block(api: Api, cup: Tournament) -> tuple[str, dict[str, Any]]:
    """Return the path of a block of the first stage, and the block."""
    rounds = api.get(f"tournaments/{cup.pk}/rounds").json()["results"]
    number = rounds[-1]["number"]
    [block, *_] = api.get(f"ladders/quick/rounds/{number}/blocks").json()["results"]
    return f"ladders/quick/rounds/{number}/blocks/{block['number']}", block


def rated_block(api: Api, cup: Tournament, organiser: str) -> tuple[str, dict[str, Any]]:
    """Return the path of a block of the first stage that changed a rating, and the block.

    A block changes none if all its matches were ties.
    """
    path, _ = first_block(api, cup)
    blocks = path.rpartition("/")[0]
    for block in api.get(blocks).json()["results"]:
        path = f"{blocks}/{block['number']}"
        if api.get(f"{path}/void", token=organiser).json()["ratings"]:
            return path, block
    raise AssertionError("no block changed a rating")


def correct(ladder: Ladder) -> None:
    for pk in ratings.ladders_to_correct():
        ratings.correct(pk)


def ratings_of(api: Api) -> dict[str, int]:
    rows = api.get("ladders/quick/standings").json()["results"]
    return {row["bot"]: row["rating"] for row in rows}


def test_a_bot_in_quarantine_is_marked_for_all_and_explained_to_its_owner(
    api: Api, bot: tuple[Bot, str], ada: tuple[User, str], organiser: str
) -> None:
    small.ladder()
    path = "bots/ada-bot/quarantine"
    assert_problem(api.get(path, token=ada[1]), 404, "not-found")
    ends_at = (timezone.now() + timedelta(hours=2)).isoformat()
    sent = {"reason": "Floods the API.", "ends_at": ends_at}
    made = api.post(path, sent, token=organiser)
    assert made.status_code == 201
    assert made.json().items() >= {"bot": "ada-bot", "account": None, "made_by": "eve"}.items()
    shown = api.get("bots/ada-bot").json()
    assert shown["quarantined"] is True
    assert shown["paused"] is False
    assert "Floods" not in api.get("bots/ada-bot").content.decode()
    assert api.get("bots").json()["results"][0]["quarantined"] is True
    assert api.get(path, token=ada[1]).json()["reason"] == "Floods the API."
    refused = api.call("PUT", "ladders/quick/entries/ada-bot", token=ada[1])
    assert "Floods the API." in assert_problem(refused, 409, "quarantined")["detail"]
    assert [row["bot"] for row in api.get("quarantines", token=organiser).json()["results"]] == [
        "ada-bot"
    ]
    assert api.call("DELETE", f"{path}?reason=It behaves", token=organiser).status_code == 204
    assert_problem(api.call("DELETE", path, token=organiser), 409, "not-quarantined")
    assert api.call("PUT", "ladders/quick/entries/ada-bot", token=ada[1]).status_code == 200


def test_owners_and_strangers_neither_begin_nor_lift_a_quarantine(
    api: Api, bot: tuple[Bot, str], ada: tuple[User, str], organiser: str
) -> None:
    for path in ("bots/ada-bot/quarantine", "accounts/ada/quarantine"):
        assert_problem(api.post(path, {"reason": "x"}, token=ada[1]), 403, "organiser-needed")
        assert api.post(path, {"reason": "x"}, token=organiser).status_code == 201
        assert_problem(api.call("DELETE", path, token=ada[1]), 403, "organiser-needed")
    User.objects.create(username="bob")
    for path in ("quarantines", "moderation-log", "moderation-log/export"):
        assert_problem(api.get(path, token=ada[1]), 403, "organiser-needed")
    Bot.objects.update(owner=User.objects.get(username="bob"))
    answer = api.get("bots/ada-bot/quarantine", token=ada[1])
    assert_problem(answer, 403, "not-your-bot")


def test_an_account_in_quarantine_keeps_all_its_bots_out(
    api: Api, bot: tuple[Bot, str], ada: tuple[User, str], organiser: str
) -> None:
    path = "accounts/ada/quarantine"
    held = api.post(path, {"reason": "Two accounts."}, token=organiser).json()
    assert (held["account"], held["bot"], held["ends_at"]) == ("ada", None, None)
    assert api.get("bots/ada-bot/quarantine", token=ada[1]).json()["account"] == "ada"
    assert api.get(path, token=organiser).json()["reason"] == "Two accounts."
    assert api.call("DELETE", path, token=organiser).status_code == 204
    assert_problem(api.get(path, token=organiser), 404, "not-found")
    assert_problem(
        api.post("accounts/nobody/quarantine", {"reason": "x"}, token=organiser), 404, "not-found"
    )


def test_a_quarantine_of_a_bot_comes_before_that_of_its_account(
    api: Api, bot: tuple[Bot, str], organiser: str
) -> None:
    path, accounts = "bots/ada-bot/quarantine", "accounts/ada/quarantine"
    for each in (path, accounts):
        api.post(each, {"reason": each}, token=organiser)
    shown = api.get(path, token=organiser).json()
    assert (shown["bot"], shown["reason"]) == ("ada-bot", path)
    lifted = api.call("DELETE", f"{path}?id={shown['id']}", token=organiser)
    assert lifted.status_code == 204
    assert api.get(path, token=organiser).json()["account"] == "ada"


def test_a_quarantine_that_another_organiser_changed_is_not_overwritten(
    api: Api, bot: tuple[Bot, str], organiser: str
) -> None:
    path = "bots/ada-bot/quarantine"
    first = api.post(path, {"reason": "first", "replaces": None}, token=organiser).json()
    second = {"reason": "second", "replaces": first["id"]}
    assert api.post(path, second, token=organiser).status_code == 201
    late = api.post(path, {"reason": "third", "replaces": first["id"]}, token=organiser)
    detail = assert_problem(late, 409, "changed-meanwhile")["detail"]
    assert "second" in detail
    assert "third" in detail
    lifted = api.call("DELETE", f"{path}?id={first['id']}", token=organiser)
    assert "second" in assert_problem(lifted, 409, "changed-meanwhile")["detail"]
    held = api.get(path, token=organiser).json()
    assert held["reason"] == "second"
    assert api.call("DELETE", f"{path}?id={held['id']}", token=organiser).status_code == 204


def test_a_second_organiser_neither_replaces_nor_loses_a_reason(
    api: Api, cup: Tournament, organiser: str
) -> None:
    path = f"tournaments/{cup.pk}/entries/bot-1/disqualify"
    for _ in range(2):
        assert api.post(path, {"reason": "theirs"}, token=organiser).status_code == 200
    late = api.post(path, {"reason": "mine"}, token=organiser)
    detail = assert_problem(late, 409, "changed-meanwhile")["detail"]
    assert ("theirs" in detail, "mine" in detail) == (True, True)
    assert cup.entries.get(bot__name="bot-1").reason == "theirs"
    Tournament.objects.update(state="running", finished_at=None)
    path = f"tournaments/{cup.pk}/cancel"
    for sent in ({"reason": "theirs"}, {"reason": "theirs"}, {}):
        assert api.post(path, sent, token=organiser).status_code == 200
    late = api.post(path, {"reason": "mine"}, token=organiser)
    detail = assert_problem(late, 409, "changed-meanwhile")["detail"]
    assert ("theirs" in detail, "mine" in detail) == (True, True)
    rows = api.get("moderation-log", token=organiser).json()["results"]
    assert [row["action"] for row in rows] == ["cancel-tournament", "disqualify"]


def test_a_block_becomes_void_and_counts_again(
    api: Api, cup: Tournament, organiser: str, ada: tuple[User, str]
) -> None:
    path, block = rated_block(api, cup, organiser)
    assert block["void_reason"] == ""
    before = ratings_of(api)
    for method, address in (("GET", "void"), ("POST", "void"), ("DELETE", "void")):
        answer = api.call(method, f"{path}/{address}", {"reason": "x"}, token=ada[1])
        assert_problem(answer, 403, "organiser-needed")
    preview = api.get(f"{path}/void", token=organiser).json()
    assert preview["action"] == "void-block"
    assert ratings_of(api) == before
    why = {"reason": "A power cut."}
    assert api.post(f"{path}/void", why, token=organiser).json()["void_reason"] == "A power cut."
    assert_problem(api.post(f"{path}/void", why, token=organiser), 409, "block-void")
    correct(cup.ladder)
    then = {row["bot"]: row["rating_then"] for row in preview["ratings"]}
    now = ratings_of(api)
    assert {name: now.get(name) for name in then} == then
    shown = api.get(path).json()
    assert (shown["state"], shown["void_reason"]) == ("void", "A power cut.")
    tables = api.get(f"tournaments/{cup.pk}/rounds").json()["results"][-1]["tables"]
    assert "A power cut." in {table["void_reason"] for table in tables}
    back = api.get(f"{path}/void", token=organiser).json()
    assert back["action"] == "restore-block"
    answer = api.call("DELETE", f"{path}/void?reason=Found%20it", token=organiser)
    assert answer.json()["void_reason"] == ""
    correct(cup.ladder)
    assert ratings_of(api) == before
    assert_problem(api.call("DELETE", f"{path}/void", token=organiser), 409, "block-not-void")


def test_a_block_is_played_again_with_a_block_in_its_place(
    api: Api, cup: Tournament, organiser: str
) -> None:
    path, block = first_block(api, cup)
    preview = api.get(f"{path}/replay?later_stages=again", token=organiser).json()
    assert preview["superseded"] == sorted(preview["superseded"]) != []
    assert api.get(f"{path}/replay", token=organiser).json()["superseded"] == []
    sent = {"reason": "Wrong clock.", "later_stages": "again"}
    made = api.post(f"{path}/replay", sent, token=organiser)
    assert made.status_code == 201
    assert made.json()["replaces"] == {"round": block["round"], "block": block["number"]}
    assert made.json()["bots"] == block["bots"]
    assert api.get(f"tournaments/{cup.pk}").json()["state"] == "running"
    rounds = api.get(f"tournaments/{cup.pk}/rounds").json()["results"]
    assert rounds[0]["replays_round"] == block["round"]
    assert {row["stage"] for row in rounds if row["superseded"]} == {*preview["superseded"]}
    small.run_all()
    assert api.get(f"tournaments/{cup.pk}").json()["state"] == "finished"
    refused = api.post(f"{path}/replay", sent, token=organiser)
    assert_problem(refused, 409, "block-not-replayable")


@pytest.mark.parametrize("sent", [{}, {"reason": " "}, {"reason": "x" * 501}, {"why": "x"}])
def test_a_decision_needs_a_reason(
    api: Api, cup: Tournament, organiser: str, sent: dict[str, str]
) -> None:
    path, _ = first_block(api, cup)
    for call in ("void", "replay"):
        answer = api.post(f"{path}/{call}", sent, token=organiser)
        assert fields_of(assert_problem(answer, 400, "invalid")) & {"reason", "why"}


@pytest.mark.parametrize(
    "path", ["rounds/1/blocks/999", "rounds/999/blocks/0", "rounds/999/blocks"]
)
def test_a_block_that_does_not_exist_is_a_problem(api: Api, cup: Tournament, path: str) -> None:
    assert_problem(api.get(f"ladders/quick/{path}"), 404, "not-found")


def test_a_block_has_one_number_everywhere(api: Api, cup: Tournament) -> None:
    _, block = first_block(api, cup)
    match = api.get(f"matches/{block['matches'][0]}").json()
    assert (match["ladder"], match["round"], match["block"]) == (
        "quick",
        block["round"],
        block["number"],
    )
    row = api.get(f"ladders/quick/ledger?round={block['round']}").json()["results"][0]
    assert block["number"] in {change["block"] for change in row["changes"]} | {block["number"]}
    tables = api.get(f"tournaments/{cup.pk}/rounds").json()["results"][-1]["tables"]
    assert block["number"] in {table["number"] for table in tables}


def test_a_cancellation_is_shown_with_its_reason_and_taken_back(api: Api, organiser: str) -> None:
    ladder = small.ladder()
    made = competitions.announce_tournament(
        title="Cup", ladder=ladder, starts_at=timezone.now() + timedelta(hours=1)
    )
    competitions.advance_tournament(made.pk)
    path = f"tournaments/{made.pk}"
    assert_problem(api.call("DELETE", f"{path}/cancel", token=organiser), 409, "not-cancelled")
    assert api.get(f"{path}/cancel", token=organiser).json()["action"] == "cancel-tournament"
    answer = api.post(f"{path}/cancel", {"reason": "The hall is closed."}, token=organiser)
    assert (
        answer.json().items()
        >= {"state": "cancelled", "cancel_reason": "The hall is closed."}.items()
    )
    assert api.get(f"{path}/cancel", token=organiser).json()["action"] == "restore-tournament"
    back = api.call("DELETE", f"{path}/cancel", token=organiser).json()
    assert (back["state"], back["cancel_reason"], back["finished_at"]) == ("open", "", None)


def test_a_tournament_whose_start_has_passed_needs_a_new_one_to_come_back(
    api: Api, organiser: str
) -> None:
    made = competitions.announce_tournament(
        title="Cup", ladder=small.ladder(), starts_at=timezone.now() + timedelta(hours=1)
    )
    path = f"tournaments/{made.pk}/cancel"
    api.post(path, token=organiser)
    Tournament.objects.update(starts_at=timezone.now() - timedelta(hours=1))
    answer = api.call("DELETE", path, token=organiser)
    assert fields_of(assert_problem(answer, 400, "invalid")) == {"starts_at"}
    later = (timezone.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    back = api.call("DELETE", f"{path}?starts_at={later}", token=organiser)
    assert back.json()["state"] in ("open", "announced")


def test_a_running_tournament_is_cancelled_and_runs_on_after_that(api: Api, organiser: str) -> None:
    small.bots(4)
    tournament = small.tournament(small.ladder(), format="swiss", swiss_rounds=2)
    competitions.advance_tournament(tournament.pk)
    path = f"tournaments/{tournament.pk}"
    api.post(f"{path}/cancel", {"reason": "A fire alarm."}, token=organiser)
    small.run_all()
    assert len(api.get(f"{path}/rounds").json()["results"]) == 1
    back = api.call("DELETE", f"{path}/cancel", token=organiser).json()
    assert back["state"] == "running"
    small.run_all()
    assert len(api.get(f"{path}/rounds").json()["results"]) == 2
    assert api.get(path).json()["state"] == "finished"


def test_a_disqualification_is_taken_back_with_the_rank(
    api: Api, cup: Tournament, organiser: str
) -> None:
    path = f"tournaments/{cup.pk}"
    before = api.get(f"{path}/standings").json()
    winner = before["results"][0]["bot"]
    address = f"{path}/entries/{winner}/disqualify"
    preview = api.get(address, token=organiser).json()
    assert preview["action"] == "disqualify"
    then = {row["bot"]: row["rank_then"] for row in preview["places"]}
    assert then[winner] is None
    assert_problem(api.call("DELETE", address, token=organiser), 409, "not-disqualified")
    api.post(address, {"reason": "Two accounts."}, token=organiser)
    rows = api.get(f"{path}/standings").json()["results"]
    assert {row["bot"]: row["rank"] for row in rows}.items() >= then.items()
    entry = api.call("DELETE", address, token=organiser).json()
    assert (entry["state"], entry["reason"], entry["left_after"]) == ("entered", "", None)
    assert api.get(f"{path}/standings").json() == before


def test_a_change_over_somebody_elses_is_refused_with_both_versions(
    api: Api, organiser: str
) -> None:
    made = competitions.announce_tournament(
        title="Cup", ladder=small.ladder(), starts_at=timezone.now() + timedelta(hours=1)
    )
    path = f"tournaments/{made.pk}"
    read = api.get(path).json()["changed_at"]
    first = {"title": "Bowl", "changed_at": read}
    assert api.call("PATCH", path, first, token=organiser).json()["title"] == "Bowl"
    second = {"title": "Vase", "changed_at": read}
    answer = api.call("PATCH", path, second, token=organiser)
    detail = assert_problem(answer, 409, "changed-meanwhile")["detail"]
    assert "stored Bowl, yours Vase" in detail
    assert api.get(path).json()["title"] == "Bowl"
    again = {"title": "Vase", "changed_at": api.get(path).json()["changed_at"]}
    assert api.call("PATCH", path, again, token=organiser).status_code == 200


def test_the_log_has_who_did_what_to_whom_when_and_why(
    api: Api, bot: tuple[Bot, str], organiser: str
) -> None:
    path = "bots/ada-bot/quarantine"
    api.post(path, {"reason": "=HYPERLINK(1)"}, token=organiser)
    api.call("DELETE", f"{path}?reason=ok", token=organiser)
    rows = api.get("moderation-log", token=organiser).json()["results"]
    assert [(row["action"], row["made_by"], row["subject"], row["reason"]) for row in rows] == [
        ("lift-quarantine", "eve", "bot ada-bot", "ok"),
        ("quarantine", "eve", "bot ada-bot", "=HYPERLINK(1)"),
    ]
    one = api.get("moderation-log?action=quarantine&q=hyper", token=organiser).json()["results"]
    assert one == rows[1:]
    later = (timezone.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert api.get(f"moderation-log?since={later}", token=organiser).json()["results"] == []
    lines = api.get("moderation-log/export", token=organiser)
    assert lines["Content-Type"] == "application/x-ndjson"
    exported = [json.loads(line) for line in lines.getvalue().decode().splitlines()]
    assert [row["id"] for row in exported] == [row["id"] for row in rows]
    file = api.get("moderation-log/export?format=csv", token=organiser)
    assert file["Content-Disposition"].endswith('"moderation-log.csv"')
    [_, first] = csv.DictReader(io.StringIO(file.getvalue().decode()))
    assert first["reason"] == "'=HYPERLINK(1)"


@pytest.mark.parametrize("path", ["bots/eves-bot/quarantine", "accounts/eve/quarantine"])
def test_an_organiser_can_lift_or_change_their_own_quarantine_only_if_there_is_no_other(
    api: Api, ada: tuple[User, str], eve: tuple[User, str], organiser: str, path: str
) -> None:
    bots.create_bot(owner=eve[0], name="eves-bot", kind="remote")
    other, token = ada
    User.objects.filter(pk=other.pk).update(is_staff=True)
    assert api.post(path, {"reason": "Floods."}, token=token).status_code == 201
    change = api.post(path, {"reason": "No matter."}, token=organiser)
    for refused in (change, api.call("DELETE", path, token=organiser)):
        problem = assert_problem(refused, 403, "own-quarantine")
        assert "Ask another organiser." in problem["detail"]
    assert api.get(path, token=token).json()["reason"] == "Floods."
    User.objects.filter(pk=other.pk).update(is_active=False)
    assert api.call("DELETE", path, token=organiser).status_code == 204
    newest = api.get("moderation-log", token=organiser).json()["results"][0]
    assert (newest["action"], newest["details"]["own"]) == ("lift-quarantine", True)

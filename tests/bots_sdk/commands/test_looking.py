"""``ladder``, ``status`` and ``logs``: what they print beside the table."""

from typing import Any

import pytest

from tests.bots_sdk.conftest import Cli
from tests.bots_sdk.stub import StubLeague, problem


def standing(bot: str, owner: str | None = None) -> dict[str, Any]:
    return {
        "rank": 1,
        "bot": bot,
        "owner": owner,
        "rating": 1500000,
        "blocks": 20,
        "win_share": 0.42,
    }


def test_a_ladder_names_house_bots_that_are_one_program(logged_in: Cli, stub: StubLeague) -> None:
    rows = [standing(each) for each in ("house-thumb", "house-thumb-2", "house-search")]
    rows += [standing(each, "ada") for each in ("mine", "mine-2")]
    stub.answers["GET ladders/x/standings"] = (200, {"results": rows, "next": None})
    shown = logged_in("ladder", "x").stdout
    assert "house-thumb and house-thumb-2 are the same program" in shown
    assert shown.count("same program") == 1
    assert "  42 %" in shown


def test_logs_of_a_bot_of_somebody_else_are_refused(logged_in: Cli, stub: StubLeague) -> None:
    stub.answers["GET matches"] = (200, {"results": [], "next": None})
    for owner, whose in ((None, "is a house bot"), ("bea", "is a bot of bea")):
        stub.answers["GET bots/other"] = (
            200,
            {"name": "other", "kind": "hosted", "version": 2, "owner": owner},
        )
        stub.answers["GET bots/other/versions/2/log"] = (403, problem(403, "not-your-bot"))
        result = logged_in("logs", "other")
        assert result.exit_code == 2
        assert whose in result.stderr
        assert "Only its owner may see" in result.stderr


def test_the_status_of_a_remote_bot_has_no_version(logged_in: Cli, stub: StubLeague) -> None:
    assert logged_in("bot", "create", "mybot").exit_code == 0
    bot = {"name": "mybot", "kind": "remote", "version": 1, "online": True, "paused": False}
    stub.answers["GET bots/mybot"] = (200, bot)
    stub.answers["GET matches"] = (200, {"results": [], "next": None})
    [row] = [line for line in logged_in("status").stdout.splitlines() if " remote " in line]
    assert row.split() == ["mybot", "remote", "-", "yes", "0"]


def test_status_and_logs_lead_to_the_reason_of_a_refused_version(
    logged_in: Cli, stub: StubLeague
) -> None:
    assert logged_in("bot", "create", "slow").exit_code == 0
    bot = {"name": "slow", "kind": "hosted", "version": None, "online": False, "paused": False}
    stub.answers["GET bots/slow"] = (200, bot)
    stub.answers["GET matches"] = (200, {"results": [], "next": None})
    shown = logged_in("status").stdout
    assert "slow has no version that can play. `twelfth-night logs slow` shows why." in shown
    stub.answers["GET bots/slow/versions"] = (200, {"results": [{"number": 3}], "next": None})
    log = {"bot": "slow", "number": 3, "state": "refused", "reason": "timeout", "qualifying": []}
    stub.answers["GET bots/slow/versions/3/log"] = (200, log)
    shown = logged_in("logs", "slow").stdout
    assert "The league refused version 3 of slow: timeout" in shown


def test_the_status_and_logs_of_a_bot_that_was_renamed_at_the_league_show_it(
    logged_in: Cli, stub: StubLeague
) -> None:
    assert logged_in("bot", "create", "mybot").exit_code == 0
    bot = {"name": "swan", "kind": "hosted", "version": None, "online": True, "paused": True}
    stub.answers["GET bots/mybot"] = (308, "/api/v1/bots/swan")
    stub.answers["GET bots/swan"] = (200, bot)
    stub.answers["GET bots/swan/versions"] = (200, {"results": [], "next": None})
    stub.answers["GET matches"] = (200, {"results": [], "next": None})
    shown = logged_in("status")
    assert shown.exit_code == 0, shown.stderr
    assert "`twelfth-night bot resume swan` resumes swan." in shown.stdout
    report = {"bot": "swan", "seat": 0, "version": 1, "faults": [], "printed": ""}
    stub.answers["GET matches/7/log"] = (200, {"results": [report]})
    assert "Match 7, seat 0" in logged_in("logs", "mybot", "--match", "7").stdout


def test_the_status_without_bots_says_when_no_league_answers(
    logged_in: Cli, stub: StubLeague
) -> None:
    stub.answers["GET ladders"] = (200, {"results": [], "next": None})
    result = logged_in("status")
    assert result.exit_code == 0
    assert "No bot token is saved on this machine" in result.stdout
    stub.answers["GET ladders"] = (503, problem(503, "unavailable"))
    assert logged_in("status").exit_code != 0


def test_the_status_at_another_address_names_the_saved_one(
    logged_in: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.answers["GET ladders"] = (200, {"results": [], "next": None})
    assert "has accounts and tokens" not in logged_in("status").stdout
    monkeypatch.setenv("TWELFTH_NIGHT_URL", stub.url.replace("127.0.0.1", "localhost"))
    shown = logged_in("status").stdout
    assert f"This machine has accounts and tokens for {stub.url}." in shown
    assert f"`export TWELFTH_NIGHT_URL={stub.url}`" in shown
    refused = logged_in("bot", "create", "other").stderr
    assert f"`export TWELFTH_NIGHT_URL={stub.url}`" in refused


def test_logs_group_faults_in_a_row_of_one_kind_and_reason(
    logged_in: Cli, stub: StubLeague
) -> None:
    bot = {"name": "mybot", "version": None, "owner": "ada"}
    kinds = [("crash", "KeyError"), *[("forfeit", "after 3 faults")] * 12, ("crash", "KeyError")]
    faults = [
        {"ply": 4 * number, "kind": kind, "reason": reason, "test": ""}
        for number, (kind, reason) in enumerate(kinds)
    ]
    report = {"bot": "mybot", "seat": 0, "version": 1, "faults": faults, "printed": ""}
    stub.answers["GET bots/mybot"] = (200, bot)
    stub.answers["GET matches/7/log"] = (200, {"results": [report]})
    shown = logged_in("logs", "mybot", "--match", "7").stdout
    assert "  12 moves from 4 to 48, forfeit: after 3 faults\n" in shown
    assert shown.count("forfeit") == 1
    assert "  move 0, crash: KeyError\n" in shown
    assert "  move 52, crash: KeyError\n" in shown


@pytest.mark.parametrize("token", ["tn_b_1 2", "tn_b_1…", "'tn_b_1'"])
def test_a_token_that_can_not_be_one_is_refused_and_not_shown(
    cli: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("TWELFTH_NIGHT_URL", stub.url)
    monkeypatch.setenv("TWELFTH_NIGHT_TOKEN", token)
    result = cli("status")
    assert result.exit_code == 2
    assert "TWELFTH_NIGHT_TOKEN has a character that no token has" in result.stderr
    assert token not in result.stderr


def test_a_line_end_after_a_token_is_ignored(
    cli: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWELFTH_NIGHT_URL", stub.url)
    monkeypatch.setenv("TWELFTH_NIGHT_TOKEN", "tn_u_1\r\n")
    stub.answers["GET ladders"] = (200, {"results": [], "next": None})
    assert cli("status").exit_code == 0


def test_an_address_with_an_impossible_port_is_refused(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWELFTH_NIGHT_URL", "http://127.0.0.1:99999")
    result = cli("ladder")
    assert result.exit_code == 2
    assert "a port is a number from 1 to 65535" in result.stderr


def test_the_status_names_the_logs_if_the_referee_played_in_the_worst_match(
    logged_in: Cli, stub: StubLeague
) -> None:
    assert logged_in("bot", "create", "mybot").exit_code == 0
    bot = {"name": "mybot", "kind": "remote", "version": 1, "online": True, "paused": False}
    stub.answers["GET bots/mybot"] = (200, bot)
    seating = [{"bot": "mybot", "place": 4, "faults": 15}]
    match = {"id": 8, "seats": 4, "status": "finished", "seating": seating}
    stub.answers["GET matches"] = (200, {"results": [match], "next": None})
    text = " ".join(logged_in("status").stdout.split())
    assert "In the worst one the referee played 15 moves for mybot" in text
    assert "`twelfth-night logs mybot --match 8` shows why." in text


def test_status_refuses_a_token_in_the_environment_that_does_not_work(
    logged_in: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWELFTH_NIGHT_TOKEN", "tn_o_old")
    stub.answers["GET ladders"] = (401, problem(401, "invalid-token"))
    result = logged_in("status")
    assert result.exit_code == 4
    assert "`unset TWELFTH_NIGHT_TOKEN`" in result.stderr
    assert stub.headers[-1]["Authorization"] == "Bearer tn_o_old"


def test_status_names_the_command_for_a_bot_that_is_paused_or_on_no_ladder(
    logged_in: Cli, stub: StubLeague
) -> None:
    assert logged_in("bot", "create", "mybot").exit_code == 0
    bot = {"name": "mybot", "kind": "remote", "version": 1, "online": False, "paused": True}
    stub.answers["GET bots/mybot"] = (200, bot)
    stub.answers["GET matches"] = (200, {"results": [], "next": None})
    assert "`twelfth-night bot resume mybot`" in logged_in("status").stdout
    bot["paused"] = False
    assert "`twelfth-night enter LADDER mybot`" in logged_in("status").stdout


def test_status_names_the_commands_that_explain_the_match_with_the_worst_place(
    logged_in: Cli, stub: StubLeague
) -> None:
    assert logged_in("bot", "create", "mybot").exit_code == 0
    bot = {"name": "mybot", "kind": "remote", "version": 1, "online": False, "paused": False}
    stub.answers["GET bots/mybot"] = (200, bot)
    seating = [{"bot": "mybot", "place": 3, "faults": 0}, {"bot": "house-thumb", "place": 1}]
    secret = [{"bot": "mybot", "place": None}, {"bot": "house-thumb", "place": None}]
    lost = [{"bot": "mybot", "place": 4, "faults": 0}, {"bot": "house-thumb", "place": 1}]
    won = [{"bot": "mybot", "place": 1, "faults": 0}, {"bot": "house-thumb", "place": 2}]
    matches = [
        {"id": 10, "seats": 4, "status": "finished", "seating": won},
        {"id": 9, "seats": 4, "status": "finished", "seating": secret},
        {"id": 8, "seats": 4, "status": "finished", "seating": lost},
        {"id": 7, "seats": 4, "status": "finished", "seating": seating},
        {"id": 6, "seats": 4, "status": "finished", "seating": lost},
    ]
    stub.answers["GET matches"] = (200, {"results": matches, "next": None})
    text = " ".join(logged_in("status").stdout.split())
    places = "1 of 4 (match 10), 4 of 4 (match 8), 3 of 4 (match 7), 4 of 4 (match 6)"
    assert f"mybot, latest places: {places} For the worst one, `twelfth-night match 8`" in text
    assert "`twelfth-night analyse 8 --bot mybot` shows the mistakes." in text


def test_status_skips_saved_bots_that_the_league_does_not_have(
    logged_in: Cli, stub: StubLeague
) -> None:
    assert logged_in("bot", "create", "mybot").exit_code == 0
    result = logged_in("status")
    assert result.exit_code == 0
    assert "for bots that the league does not have: mybot. The bots were deleted" in result.stdout
    assert logged_in("status", "mybot").exit_code == 1


def test_logs_of_a_bot_that_does_not_exist_are_refused(logged_in: Cli, stub: StubLeague) -> None:
    stub.answers["GET matches"] = (200, {"results": [], "next": None})
    assert logged_in("logs", "nobot").exit_code == 1

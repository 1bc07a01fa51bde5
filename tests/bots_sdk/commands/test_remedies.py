"""The commands that mend a problem of the league, as the command line prints them."""

from pathlib import Path

import pytest

from bots_sdk.commands.remedies import after_problem
from bots_sdk.errors import ProblemError
from tests.bots_sdk.conftest import Cli
from tests.bots_sdk.stub import StubLeague, problem
from tests.bots_sdk.test_cli import run_here


@pytest.mark.parametrize(
    ("code", "detail", "remedy"),
    [
        ("not-found", "There is no bot mybot.", "`twelfth-night bot create mybot`"),
        ("not-found", "There is no ladder x.", "`twelfth-night ladder` lists the ladders."),
        (
            "invalid",
            "The name mybot is taken by your own remote bot;",
            "`twelfth-night bot token mybot`",
        ),
        (
            "invalid",
            "The name mybot is taken by your own hosted bot;",
            "`twelfth-night upload FILE --bot mybot`",
        ),
        ("invalid", "The username ada is taken; choose", "login {url} --username ada`"),
        ("not-found", "There is no match 99.", "The latest matches are listed at {url}/matches/."),
        (
            "not-finished",
            "Match 7 is playing; it has no record yet.",
            "`twelfth-night watch 7` follows it to its end.",
        ),
        ("wrong-credentials", "No account.", "`twelfth-night login {url} --sign-up`"),
        ("invalid-token", "It does not work.", "`twelfth-night login {url}`"),
        ("not-your-bot", "It belongs to another.", "`twelfth-night status` lists the bots"),
        ("unexpected-answer", "Not a league.", "`make up` starts one and prints its address"),
        ("no-version", "mybot has no version yet.", "`twelfth-night upload FILE --bot NAME`"),
    ],
)
def test_a_problem_gets_the_command_that_mends_it(
    logged_in: Cli, stub: StubLeague, code: str, detail: str, remedy: str
) -> None:
    stub.answers["PUT ladders/x/entries/mybot"] = (
        400,
        {**problem(400, code), "detail": detail},
    )
    result = logged_in("enter", "x", "mybot")
    assert detail in result.stderr
    assert remedy.format(url=stub.url) in result.stderr


def test_the_address_of_a_page_gets_the_address_of_its_league() -> None:
    error = ProblemError("unexpected-answer", 404, "This is not the answer of a league.")
    error.url = "http://127.0.0.1:8000/ladders"
    remedy = after_problem(error)
    assert remedy == (
        "Try the address without /ladders: `twelfth-night login http://127.0.0.1:8000`."
    )


@pytest.mark.parametrize(
    ("detail", "is_checked"),
    [
        ("mybot failed its check for partridge: crash.", True),
        ("mybot declares that it plays twelve-days, not partridge. Add it to GAMES.", False),
    ],
)
def test_a_bot_that_declares_other_games_is_not_sent_to_the_check(
    logged_in: Cli, stub: StubLeague, detail: str, is_checked: bool
) -> None:
    stub.answers["POST challenges"] = (409, {**problem(409, "not-qualified"), "detail": detail})
    shown = logged_in("challenge", "mybot", "house-thumb").stderr
    assert detail in shown
    assert ("check FILE" in shown) == is_checked


@pytest.mark.parametrize("state", ["is still being checked. Try again soon.", "is held. Promote"])
def test_a_bot_whose_version_waits_needs_no_other_upload(
    logged_in: Cli, stub: StubLeague, state: str
) -> None:
    detail = f"mybot has no current version: version 1 {state}"
    stub.answers["PUT ladders/x/entries/mybot"] = (
        409,
        {**problem(409, "no-version"), "detail": detail},
    )
    shown = logged_in("enter", "x", "mybot").stderr
    assert detail in shown
    assert "upload FILE" not in shown


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("not-authenticated", "This call needs a token in the header Authorization: Bearer TOKEN."),
        ("invalid-token", "The token does not work: it is mistyped, expired, revoked or replaced."),
        ("wrong-credentials", "No account has this name and password."),
        ("owner-token-needed", "This call needs an owner token."),
        ("bot-token-needed", "This call needs a bot token: send the one that came with the bot."),
        ("scope-needed", "The token does not have the scope that this call needs."),
    ],
)
def test_a_command_replaces_the_sentence_on_a_call_of_the_api(
    logged_in: Cli, stub: StubLeague, code: str, kept: str
) -> None:
    # Imported here, so that the other tests of this file run without Django.
    from api.problems import CODES

    status, detail = CODES[code]
    stub.answers["PUT ladders/x/entries/mybot"] = (
        status,
        {**problem(status, code), "detail": detail},
    )
    result = logged_in("enter", "x", "mybot")
    assert f"twelfth-night: {kept} " in result.stderr
    assert "POST" not in result.stderr


def test_a_page_of_another_server_names_the_league_that_runs_here(
    logged_in: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    stub.answers["PUT ladders/x/entries/mybot"] = (404, "<html>")
    other = StubLeague()
    with other.serving() as url:
        run_here(url, tmp_path)
        result = logged_in("enter", "x", "mybot")
    assert "This is not the answer of a league." in result.stderr
    assert f"A league runs here at {url}: `twelfth-night login {url}`." in result.stderr


def test_upload_under_a_name_of_somebody_else_proposes_another_name(
    logged_in: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    file = tmp_path / "mybot.py"
    file.write_text("def choose(observation):\n    return observation['legal_moves'][0]\n")
    stub.answers["GET bots/mybot"] = (200, {"kind": "hosted", "name": "mybot"})
    stub.answers["POST bots/mybot/versions"] = (403, problem(403, "not-your-bot"))
    result = logged_in("upload", str(file))
    assert f"`twelfth-night upload {file} --bot OTHER-NAME`" in result.stderr
    for kind, why in [
        ("remote", "mybot is a remote bot"),
        ("house", "taken by a house bot, a bot"),
    ]:
        stub.answers["GET bots/mybot"] = (200, {"kind": kind, "name": "mybot"})
        result = logged_in("upload", str(file))
        assert why in result.stderr
        assert f"`twelfth-night upload {file} --bot OTHER-NAME`" in result.stderr


@pytest.mark.parametrize("kind", ["bot", "ladder"])
def test_a_question_of_the_league_gets_no_full_stop(
    logged_in: Cli, stub: StubLeague, kind: str
) -> None:
    detail = f"There is no {kind} mybt. Did you mean mybot?"
    answer = {**problem(404, "not-found"), "detail": detail}
    stub.answers["PUT ladders/x/entries/mybt"] = (404, answer)
    assert f"{detail} `twelfth-night " in logged_in("enter", "x", "mybt").stderr


def test_without_a_league_each_command_prints_the_same_sentence(cli: Cli) -> None:
    upload, ladder = cli("bot", "create", "mybot"), cli("ladder")
    assert (upload.exit_code, ladder.exit_code) == (4, 2)
    sentence = "twelfth-night: You are not logged in to a league. Log in to one"
    assert upload.stderr.startswith(sentence)
    assert ladder.stderr == upload.stderr


def test_a_name_of_somebody_else_has_no_command_for_its_token(
    logged_in: Cli, stub: StubLeague
) -> None:
    text = "The name thumb is taken by a house bot; choose another."
    errors = [{"field": "name", "message": text}]
    stub.answers["POST bots"] = (
        400,
        {**problem(400, "invalid"), "title": "The input is not valid.", "errors": errors},
    )
    assert logged_in("bot", "create", "thumb").stderr == f"twelfth-night: {text}\n"


def test_enter_on_a_ladder_of_another_game_names_the_ladders_of_the_bots_games(
    logged_in: Cli, stub: StubLeague
) -> None:
    stub.answers["PUT ladders/days/entries/mybot"] = (409, problem(409, "not-qualified"))
    stub.answers["GET bots/mybot"] = (200, {"name": "mybot", "version": 2})
    matches = [{"game": "partridge", "passed": True}, {"game": "twelve-days", "passed": False}]
    stub.answers["GET bots/mybot/versions/2/log"] = (200, {"qualifying": matches})
    ladders = [{"slug": "days", "game": "twelve-days"}, {"slug": "pear", "game": "partridge"}]
    ladders.append({"slug": "entered", "game": "partridge"})
    stub.answers["GET ladders"] = (200, {"results": ladders, "next": None})
    stub.answers["GET ladders/entered/entries/mybot"] = (200, {"ladder": "entered"})
    result = logged_in("enter", "days", "mybot")
    assert "another ladder: `twelfth-night enter pear mybot`." in result.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nonsense"], "No such command 'nonsense'. `twelfth-night --help` lists the commands."),
        (
            ["bot", "nonsense"],
            "No such command 'nonsense'. `twelfth-night bot --help` lists the commands.",
        ),
        (["try"], "Missing argument 'FILE'. `twelfth-night try --help` explains the arguments."),
        (
            ["upload"],
            "Missing argument 'FILE'. `twelfth-night upload --help` explains the arguments.",
        ),
    ],
)
def test_wrong_words_get_one_line_with_the_command_that_explains_the_right_ones(
    cli: Cli, words: list[str], line: str
) -> None:
    result = cli(*words)
    assert (result.exit_code, result.stderr) == (2, f"twelfth-night: {line}\n")

"""``challenge`` at a league whose answers are made here."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from bots_sdk.call import Call
from bots_sdk.cli import application
from bots_sdk.commands import challenging, following
from tests.bots_sdk.commands.leagues import FakeLeague

PAIRS = [{"opponent": "house-thumb", "share": 0.5, "low": 0.1, "high": 0.9}]


def state(name: str, *statuses: str) -> dict[str, Any]:
    return {
        "id": 7,
        "bot": "mybot",
        "game": "partridge",
        "rules": "eagle-short",
        "state": name,
        "matches_finished": statuses.count("finished"),
        "matches": [{"status": status, "void_reason": ""} for status in statuses],
        "win_share": 0.5 if name == "finished" else None,
        "results": PAIRS if name == "finished" else [],
    }


class League(FakeLeague):
    """A league that answers in turn; the first answer is that to the challenge."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers: Iterator[dict[str, Any]] = iter(answers)
        self.sent: list[Call[Any]] = []

    def send(self, call: Call[Any]) -> Any:
        self.sent.append(call)
        return next(self.answers)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(challenging, "owner_token", lambda: (League.url, "token"))

    def run(league: League, *options: str) -> Any:
        monkeypatch.setattr(challenging, "client_for", lambda url, token: league)
        return CliRunner().invoke(application(), ["challenge", "mybot", "house-thumb", *options])

    return run


def test_the_command_follows_a_challenge_line_by_line_to_its_result(play: Any) -> None:
    waiting = state("waiting", "waiting", "waiting")
    league = League(
        waiting,
        waiting,
        waiting,
        state("playing", "finished", "playing"),
        state("finished", "finished", "finished"),
    )
    result = play(league, "--game", "partridge")
    assert result.exit_code == 0
    assert league.sent[0].body == {
        "bot": "mybot",
        "opponents": ["house-thumb"],
        "game": "partridge",
    }
    assert result.stderr.splitlines() == [
        "The challenge has not begun.",
        "1 of 2 matches finished, 1 in play, 0 waiting to begin.",
    ]
    assert "Challenge 7: partridge eagle-short, 2 matches" in result.stdout
    assert "http://league.example/challenges/7/" in result.stdout
    assert "house-thumb  50 %" in result.stdout
    assert "10 % to 90 %" in result.stdout


def test_without_waiting_the_command_prints_the_page(play: Any) -> None:
    result = play(League(state("waiting", "waiting", "waiting")), "--no-wait")
    assert result.exit_code == 0
    assert result.stdout.endswith("http://league.example/challenges/7/\n")


def test_a_void_challenge_ends_with_status_1(play: Any) -> None:
    result = play(League(state("waiting", "waiting"), state("void", "void")))
    assert result.exit_code == 1
    assert "void" in result.stdout

"""``enter`` and ``upload`` state what happens next, and follow a bot to its rank."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bots_sdk.call import Call
from bots_sdk.cli import application
from bots_sdk.commands import following, playing, uploading
from bots_sdk.commands.ranking import describe_with_rank
from bots_sdk.errors import ProblemError
from bots_sdk.invoking import command_word
from bots_sdk.saved import SavedLeague
from tests.bots_sdk.commands.leagues import URL, FakeLeague

QUALIFYING = [
    {"game": "partridge", "passed": True, "reason": "", "printed": ""},
    {"game": "twelve-days", "passed": False, "reason": "crash", "printed": ""},
]


def place(
    finished: int, playing: int, queued: int, left: float | None, *, is_ranked: bool = False
) -> dict[str, Any]:
    progress = {
        "needed": 20,
        "finished": finished,
        "playing": playing,
        "queued": queued,
        "seconds_left": left,
    }
    return {
        "ladder": "partridge",
        "next_block": "Its first blocks are drawn now.",
        "rating": 1512345 if finished else None,
        "rank_progress": None if is_ranked else progress,
    }


class League(FakeLeague):
    """A league with two ladders, on one of which the bot may be."""

    def __init__(self, *places: dict[str, Any], stopped_by: str = "") -> None:
        self.places = list(places)
        self.stopped_by = stopped_by

    def send(self, call: Call[Any]) -> Any:
        match call.method, call.path.split("/"):
            case "GET", ["bots", _]:
                stopped = {each: each == self.stopped_by for each in ("paused", "quarantined")}
                return {"kind": "hosted", "name": "swan", **stopped}
            case "GET", ["bots", _, "ladders", _]:
                return {"rank": 3, "rating": 1512345}
            case "GET", ["ladders"]:
                return {
                    "results": [
                        {"slug": "partridge", "game": "partridge", "ranked_from": 20},
                        {"slug": "days", "game": "twelve-days", "ranked_from": 20},
                    ]
                }
            case "GET", ["ladders", slug]:
                return {"slug": slug, "ranked_from": 20}
            case "GET", ["ladders", "partridge", "entries", _] if self.places:
                return self.places.pop(0) if len(self.places) > 1 else self.places[0]
            case "GET", ["ladders", _, "entries", _]:
                raise ProblemError("not-found", 404, "not-found")
            case "PUT", ["ladders", *_]:
                return {"ladder": "partridge", "bot": "swan"}
            case "POST", ["bots", name, "versions"]:
                new = {"bot": name, "number": 1, "state": "checking", "held": False}
                return {**new, "check_seconds_left": 6.2}
            case "GET", ["bots", name, "versions", *_]:
                ready = {"bot": name, "number": 1, "state": "ready", "held": False}
                return {**ready, "qualifying": QUALIFYING}
        raise AssertionError(call)


Run = Callable[..., Any]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(playing, "chosen_league", lambda: (URL, SavedLeague(token="t")))
    monkeypatch.setattr(uploading, "owner_token", lambda: (URL, "t"))
    (tmp_path / "swan.py").write_text("def choose(observation): return ''\n")

    def invoke(league: League, *arguments: str) -> Any:
        for module in (playing, uploading):
            monkeypatch.setattr(module, "client_for", lambda *_: league)
        words = [str(tmp_path / word) if word == "swan.py" else word for word in arguments]
        return CliRunner().invoke(application(), words)

    return invoke


def test_enter_states_what_happens_next_and_when(run: Run) -> None:
    result = run(League(place(0, 0, 0, 61.2)), "enter", "partridge", "swan")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[1:] == [
        "Its first blocks are drawn now.",
        "`twelfth-night enter partridge swan --wait` shows its progress until it has a rank.",
    ]


def test_enter_with_wait_follows_the_bot_to_its_rank_line_by_line(run: Run) -> None:
    league = League(
        place(0, 0, 0, None),
        place(0, 0, 0, None),
        place(1, 2, 15, 130.0),
        place(1, 2, 17, 110.0),
        place(1, 2, 17, 130.0),
        place(1, 1, 18, 130.0),
        place(23, 0, 0, 0.0),
        place(23, 0, 0, None, is_ranked=True),
    )
    result = run(league, "enter", "partridge", "swan", "--wait")
    assert result.exit_code == 0, result.output
    assert "Its first blocks are drawn now." in result.stdout
    assert result.stderr.splitlines() == [
        "partridge: 1 of 20 blocks finished, 2 in play, 15 waiting to begin, 2 not planned "
        "yet; rating 1512 so far; rank in about 3 minutes",
        "partridge: all 20 blocks finished; the league computes rating and rank",
    ]
    assert "swan has rank 3 on partridge, with a rating of 1512" in result.stdout


def test_without_news_a_line_comes_again_after_a_while_and_is_marked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "LINE_EVERY_SECONDS", 0.0)
    league = League(
        place(0, 0, 20, None),
        place(1, 2, 17, None),
        place(1, 2, 17, None),
        place(20, 0, 0, None, is_ranked=True),
    )
    result = run(league, "enter", "partridge", "swan", "--wait")
    line = "partridge: 1 of 20 blocks finished, 2 in play, 17 waiting to begin; rating 1512 so far"
    assert result.stderr.splitlines() == [line, f"still, after 0 s: {line}"]


def test_news_that_the_line_does_not_show_print_no_line(run: Run) -> None:
    league = League(
        place(0, 0, 20, None),
        place(1, 0, 19, None),
        place(20, 0, 0, None),
        place(21, 0, 0, None),
        place(21, 0, 0, None, is_ranked=True),
    )
    result = run(league, "enter", "partridge", "swan", "--wait")
    last = "partridge: all 20 blocks finished; the league computes rating and rank"
    assert result.stderr.splitlines()[1:] == [last]


def test_after_ctrl_c_enter_states_that_the_bot_stays_on_the_ladder(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bots_sdk.commands.following.sleep", interrupt)
    result = run(League(place(1, 2, 17, None)), "enter", "partridge", "swan", "--wait")
    assert result.exit_code == 130
    assert "swan stays on partridge and plays on. `twelfth-night status swan`" in result.stderr


@pytest.mark.parametrize(
    ("stopped_by", "remedy"),
    [
        ("paused", "twelfth-night bot resume swan"),
        ("quarantined", "page of the bot shows you"),
    ],
)
def test_a_bot_without_new_matches_is_not_followed_for_ever(
    run: Run, stopped_by: str, remedy: str
) -> None:
    league = League(place(3, 0, 0, None), stopped_by=stopped_by)
    result = run(league, "enter", "partridge", "swan", "--wait")
    assert result.exit_code == 2
    assert remedy in result.output


def test_a_paused_bot_with_a_rank_is_a_failure_if_you_wait_for_it(run: Run) -> None:
    league = League(place(20, 0, 0, None, is_ranked=True), stopped_by="paused")
    result = run(league, "enter", "partridge", "swan", "--wait")
    assert result.exit_code == 2
    assert "has rank" not in result.output
    assert "twelfth-night bot resume swan" in result.stderr


def test_enter_of_a_paused_bot_names_the_command_that_resumes_it(run: Run) -> None:
    league = League(place(20, 0, 0, None, is_ranked=True), stopped_by="paused")
    result = run(league, "enter", "partridge", "swan")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "`twelfth-night bot resume swan` resumes it."


def test_upload_states_how_long_the_check_takes_and_lists_ladders_that_fit(run: Run) -> None:
    result = run(League(), "upload", "swan.py")
    assert result.exit_code == 0, result.output
    text = result.stdout
    assert "one match of each of the bot's games. The check ends in about 10 s." in text
    assert text.endswith(
        "It gets a rank, its position on the ladder, after 20 blocks. If no other matches wait, "
        "this takes less than a minute. This command enters it and shows its progress:\n"
        f"  {command_word()} enter partridge swan --wait\n"
    )


def test_upload_promises_no_time_for_more_blocks_than_were_measured(run: Run) -> None:
    class SlowLeague(League):
        def send(self, call: Call[Any]) -> Any:
            found = super().send(call)
            if call.path == "ladders":
                found["results"][0]["ranked_from"] = 40
            return found

    result = run(SlowLeague(), "upload", "swan.py")
    assert "after 40 blocks. This command" in result.stdout


def test_upload_with_wait_follows_a_bot_that_is_on_a_ladder(run: Run) -> None:
    league = League(
        place(0, 0, 0, 40.0),
        place(0, 0, 0, 40.0),
        place(5, 2, 13, 40.0),
        place(20, 0, 0, None, is_ranked=True),
    )
    result = run(league, "upload", "swan.py", "--wait")
    assert result.exit_code == 0, result.output
    assert "On partridge: Its first blocks are drawn now." in result.stdout
    assert "5 of 20 blocks finished" in result.stderr
    assert "swan has rank 3" in result.stdout


def test_upload_without_waiting_prints_how_to_see_the_result(run: Run) -> None:
    result = run(League(), "upload", "swan.py", "--no-wait")
    assert result.exit_code == 0, result.output
    assert "still waits for its check" in result.stdout
    assert "on a ladder (a lasting ranking) after the check." in result.stdout
    assert f"\n  {command_word()} enter days swan --wait\n" in result.stdout


def test_upload_without_waiting_prints_what_the_check_of_a_bot_on_a_ladder_leads_to(
    run: Run,
) -> None:
    league = League(place(20, 0, 0, None, is_ranked=True))
    result = run(league, "upload", "swan.py", "--no-wait")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-2:] == [
        "On partridge: After its check, version 1 plays 20 blocks for a rank.",
        "`twelfth-night status swan` shows its progress, and when it has a rank.",
    ]


def test_status_begins_with_rank_and_rating_of_a_ranked_bot() -> None:
    league: Any = League()
    ranked: Any = {**place(20, 0, 0, None, is_ranked=True), "bot": "swan"}
    assert describe_with_rank(league, ranked) == (
        "rank 3, rating 1512. Its first blocks are drawn now."
    )
    provisional: Any = {**place(8, 2, 10, 40.0), "bot": "swan"}
    assert describe_with_rank(league, provisional) == (
        "rating 1512 so far. Its first blocks are drawn now."
    )
    waiting: Any = {**place(0, 0, 20, 40.0), "bot": "swan"}
    assert describe_with_rank(league, waiting) == "Its first blocks are drawn now."


def test_a_terminal_that_can_not_rewrite_a_line_gets_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes it for a terminal
    monkeypatch.setenv("TERM", "dumb")
    looks = iter(range(1, 5))
    found = following.follow(lambda: next(looks), lambda at: None if at > 3 else f"block {at}")
    assert found == 4
    assert capsys.readouterr().err == "block 1\nblock 2\nblock 3\n"

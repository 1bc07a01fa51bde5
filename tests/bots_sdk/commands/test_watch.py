"""``twelfth-night watch``: a match step by step, at home and at a league."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bots_sdk.arena import matches
from bots_sdk.client import ServerEvent
from bots_sdk.commands import watching
from bots_sdk.errors import UnreachableError
from engine.cli import simulate
from engine.playback import play_back, steps_of
from engine.record import read, verify, write
from tests.bots_sdk.conftest import BOTS, Home
from tests.bots_sdk.stub import StubLeague

RECORD = simulate("partridge", "eagle-short", 3, bytes(32), lambda legal: legal[0], "ada")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[StubLeague]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    league = StubLeague()
    with league.serving() as url:
        monkeypatch.setenv("TWELFTH_NIGHT_URL", url)
        yield league


def serve(stub: StubLeague, *, status: str = "finished", public: bool = True) -> None:
    names = ["ada", "bea", "cyd"]
    stub.answers["GET matches/7"] = (
        200,
        {
            "game": RECORD.game,
            "rules": RECORD.rules,
            "status": status,
            "ladder": "birds",
            "deal_seed": RECORD.deal_seed.hex() if public else None,
            "seating": [{"seat": seat, "bot": name} for seat, name in enumerate(names)],
        },
    )
    stub.answers["GET matches/7/record"] = (200, json.loads(write(RECORD)))


def feed() -> list[ServerEvent]:
    """Return the events of the record, as a league sends them."""
    phases = [
        ServerEvent(
            "phase",
            {"events": [event.seen_by(None).as_json() for event in phase.events]},
            str(phase.ply),
        )
        for phase in play_back(RECORD)
    ]
    return [*phases, ServerEvent("end", {"status": "finished"}, "end")]


class Feed:
    """Stands for the client's streams: each sends a part of the events and breaks off."""

    def __init__(self, *parts: list[ServerEvent] | UnreachableError) -> None:
        self.parts = list(parts)
        self.began_after: list[str | None] = []

    def replaces(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put this feed in the place of the client's streams."""

        def events(client: Any, stream: Any) -> "Feed":
            self.began_after.append(stream.last_event_id)
            return self

        monkeypatch.setattr("bots_sdk.commands.watching.Client.events", events)

    def __enter__(self) -> Iterator[ServerEvent]:
        part = self.parts.pop(0)
        if isinstance(part, UnreachableError):
            raise part
        return iter(part)

    def __exit__(self, *_: object) -> None:
        """End the stream."""


def test_bots_play_here_and_each_step_has_its_reason(home: Home) -> None:
    result = home("watch", "first.py", "thumb", "--seed", "x")
    assert result.exit_code == 0
    legend, _ = result.stdout.split("4 seats play 12 Days")
    assert legend.startswith("twelve-days calliope, --seed x\nEach step first shows the seats")
    assert "\n- * marks the row of first.py.\n- day cards: the cards that the" in legend
    about = "day 1: each seat gives a card to its left neighbour; pot: day card 1, 1 point\n"
    assert about in result.stdout
    assert re.search(r"^\*    0  first.py ", result.stdout, re.M)
    assert re.search(r"^     1  house-thumb ", result.stdout, re.M)
    assert re.search(r"^     3  house-thumb ", result.stdout, re.M)
    assert re.search(r"^\d+ is the lowest.*, so .* wins \d+ points?$", result.stdout, re.M)
    assert re.search(r"^  3  house-thumb +\d+ points, place \d$", result.stdout, re.M)


def test_the_same_seed_gives_the_same_match_as_a_record(home: Home) -> None:
    lines = [home("watch", "last.py", "--seed", "x", "--json").stdout for _ in range(2)]
    assert lines[0] == lines[1]
    record = read(lines[0].encode())
    verify(record)
    assert record.players[0] == "last.py"  # type: ignore[index]


def test_the_file_declares_its_game(home: Home, tmp_path: Any) -> None:
    (tmp_path / "bird.py").write_text(f'GAMES = ["partridge"]\n{BOTS["first.py"]}')
    assert home("watch", "bird.py").stdout.startswith("partridge eagle-short, ")


@pytest.mark.parametrize("words", [["watch"], ["try", "--blocks", "1", "--replay", "1", "--all"]])
def test_a_match_is_not_begun_with_a_file_whose_code_does_not_end(
    home: Home, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(matches, "_MAX_SECONDS", 0.2)
    (tmp_path / "loop.py").write_text(f"{BOTS['first.py']}\nwhile True:\n    pass\n")
    result = home(*words, "loop.py")
    assert result.exit_code == 2
    assert "loop.py can't be loaded: it did not answer within 0.2 s" in result.stderr


def test_more_bots_than_four_get_more_seats(home: Home) -> None:
    for words in (["thumb"] * 5, ["house", "thumb"]):  # there are four bots of the house
        result = home("watch", *words, "--json")
        assert read(result.stdout.encode()).seats == 5


def test_the_example_of_an_address_is_of_the_same_league(home: Home) -> None:
    result = home("watch", "http://127.0.0.1:8123/bots/ada/")
    assert result.exit_code == 2
    assert "such as http://127.0.0.1:8123/matches/1/." in result.stderr


def test_gifts_are_not_called_points(home: Home) -> None:
    shown = home("watch", "thumb", "--game", "partridge", "--seed", "x").stdout
    assert "- gifts: the points that the seat has now." in shown
    assert re.search(r"; \S+( \(seat \d\))? led [\d ]+\n", shown)
    assert re.search(r"^  3  house-counting +\d+ gifts?, place \d$", shown, re.M)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["no.py"], "There is no file no.py"),
        (["http://x/ladders/y/"], "is not the address of a match"),
        (["7", "8"], "Watch one match at a time"),
        (["9" * 5000], "too large for the number of a match: it has 5000 digits"),
        (["http://x/matches/" + "9" * 5000], "too large for the number of a match"),
        (["0"], "0 is not the number of a match; they begin at 1"),
        (["http://x/matches/0/"], "0 is not the number of a match; they begin at 1"),
        (["7", "--seed", "x"], "leave out --game, --rules, --seats"),
        (["thumb", "thumb", "thumb", "thumb", "--seats", "3"], "4 bots are given for 3 seats"),
        (["house", "--seats", "3"], "4 bots are given for 3 seats"),
        (["thumb", "--game", "partridge", "--seats", "9"], "takes 2 to 8 seats, not 9"),
    ],
)
def test_wrong_arguments_name_a_remedy(home: Home, words: list[str], remedy: str) -> None:
    result = home("watch", *words)
    assert result.exit_code == 2
    assert remedy in result.stderr


def test_a_match_of_a_league_is_followed_to_its_end(
    home: Home, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(stub, status="playing", public=False)
    shown = Feed(feed())
    shown.replaces(monkeypatch)
    result = home("watch", 7)
    assert result.exit_code == 0
    assert result.stdout.startswith(
        f"partridge eagle-short, rated on birds, playing  {stub.url}/matches/7/\n"
        "Each step appears when it is played; Ctrl-C stops.\n"
    )
    assert re.search(
        r"^\d+ is the lowest card, so (ada|bea|cyd) wins the trick$", result.stdout, re.M
    )
    assert result.stdout.endswith("The match is finished.\n")


def test_each_trick_of_a_live_match_has_a_number_within_its_round(
    home: Home, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(stub, status="playing", public=False)
    Feed(feed()).replaces(monkeypatch)
    shown = home("watch", 7).stdout
    tricks = re.findall(r"^round (\d+), trick (\d+)\n(?:ada|bea|cyd) leads ", shown, re.M)
    names = dict.fromkeys(name for _, name in steps_of(RECORD))
    assert [f"round {round_}, trick {trick}" for round_, trick in tricks] == list(names)


def test_a_lost_stream_goes_on_after_its_last_event(
    home: Home, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(stub, status="playing", public=False)
    monkeypatch.setattr(watching, "_AGAIN_SECONDS", 0.0)
    events = feed()
    shown = Feed(events[:3], UnreachableError(stub.url, "gone"), events[3:])
    shown.replaces(monkeypatch)
    once = home("watch", 7).stdout
    assert shown.began_after == [None, events[2].id, events[2].id]
    shown.parts = [events]
    assert home("watch", 7).stdout == once


def test_clocks_are_not_printed(
    home: Home, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(stub, status="playing", public=False)
    clock = ServerEvent("clock", {"match": 7, "to_act": [0]}, "0")
    shown = Feed(feed(), [each for event in feed() for each in (clock, event)])
    shown.replaces(monkeypatch)
    assert home("watch", 7).stdout == home("watch", 7).stdout


def test_a_league_that_stays_away_ends_the_command(
    home: Home, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(stub, status="playing", public=False)
    monkeypatch.setattr(watching, "_AGAIN_SECONDS", 0.0)
    shown = Feed(*[UnreachableError(stub.url, "gone") for _ in range(50)])
    shown.replaces(monkeypatch)
    result = home("watch", 7)
    assert result.exit_code == 3
    assert "does not answer" in result.stderr


def test_an_address_names_the_league_and_the_match(
    home: Home, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(stub)
    monkeypatch.delenv("TWELFTH_NIGHT_URL")
    shown = Feed(feed())
    shown.replaces(monkeypatch)
    result = home("watch", f"{stub.url}/matches/7/?ply=3", "--json")
    assert result.exit_code == 0
    assert [json.loads(line)["event"] for line in result.stdout.splitlines()][-2:] == [
        "phase",
        "end",
    ]


def test_a_finished_match_is_stepped_through_at_a_terminal(
    home: Home, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(stub)
    steps: list[str] = []
    monkeypatch.setattr(watching, "_at_terminal", lambda: True)
    monkeypatch.setattr(watching, "show_steps", lambda found, show_all: steps.extend(found))
    assert home("watch", 7).exit_code == 0
    assert len(steps) > 10
    assert any("is the lowest card, so" in step for step in steps)


def test_a_finished_match_shows_all_hands_outside_a_terminal_too(
    home: Home, stub: StubLeague
) -> None:
    serve(stub)
    shown = home("watch", 7).stdout
    assert shown.count(" is dealt ") > 2
    assert " is dealt 1" in shown
    assert "hand before this step" in shown
    assert "\nround 1, trick 2: the leader starts a trick\n" in shown


def test_a_finished_match_whose_deal_is_still_played_states_when_its_hands_are_shown(
    home: Home, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(stub, public=False)
    Feed(feed()).replaces(monkeypatch)
    shown = home("watch", 7).stdout
    assert "stay secret until all matches with the same deal are finished. Then this" in shown
    assert "hand before this step" not in shown


@pytest.mark.parametrize("change", [{"scores": [0, 0, 0]}, {"format": "twelfth-night/2"}])
def test_a_record_that_is_not_valid_is_not_shown(
    home: Home, stub: StubLeague, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    serve(stub)
    stub.answers["GET matches/7/record"][1].update(change)
    monkeypatch.setattr(watching, "_at_terminal", lambda: True)
    result = home("watch", 7)
    assert result.exit_code == 2
    assert "`twelfth-night verify 7` shows more" in result.stderr


def test_the_progress_of_a_match_is_shown_while_it_is_played(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots_sdk.commands.progress.FIRST_SECONDS", 0.1)
    source = "import time\ndef choose(o): time.sleep(0.03); return o['legal_moves'][0]\n"
    Path("slow.py").write_text(source)
    result = home("watch", "slow.py", "--rules", "eight-nights", "--seats", 3)
    assert result.exit_code == 0
    assert result.stderr == "the match has been in play for 0 s\n"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C arrive, also if the tests run as a background job, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("words", [("watch", "slow.py"), ("try", "slow.py", "--replay", "--all")])
def test_ctrl_c_during_a_move_is_no_fault_of_the_bot(
    home: Home, interruptible: None, words: tuple[str, ...]
) -> None:
    interrupt = "os.kill(os.getpid(), signal.SIGINT); return o['legal_moves'][0]"
    Path("slow.py").write_text(f"import os, signal\ndef choose(o): {interrupt}\n")
    result = home(*words)
    assert result.exit_code == 130
    assert "fault" not in result.output


def test_ctrl_c_ends_without_a_traceback(
    home: Home, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(stub, status="playing", public=False)

    def interrupt(client: Any, stream: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("bots_sdk.commands.watching.Client.events", interrupt)
    result = home("watch", 7)
    assert (result.exit_code, result.stderr) == (130, "")

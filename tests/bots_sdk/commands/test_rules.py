"""``twelfth-night rules``: the pages of the rules in a terminal and elsewhere."""

import io
import json
import sys
from pathlib import Path

import pytest

from bots_sdk.commands import reading
from bots_sdk.rules import TOPICS, text
from engine.games.catalogue import GAMES
from tests.bots_sdk.conftest import Home

DOCS = Path(__file__).parents[3] / "docs"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("topic", TOPICS)
def test_the_text_is_the_page_of_the_documents(home: Home, topic: str) -> None:
    (page,) = DOCS.glob(f"*/{topic}.md")
    assert text(topic) == page.read_text()
    assert json.loads(home("rules", topic, "--json").stdout)["markdown"] == text(topic)


@pytest.mark.parametrize("topic", TOPICS)
def test_it_is_printed_in_80_columns_without_links_and_pictures(home: Home, topic: str) -> None:
    result = home("rules", topic)
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert ".md" not in result.stdout
    assert ".svg" not in result.stdout
    assert "Picture" not in result.stdout
    assert "One card of each rank with its name" not in result.stdout


@pytest.mark.parametrize("game", GAMES)
def test_the_names_of_all_presets_are_whole(home: Home, game: str) -> None:
    shown = home("rules", game).stdout
    assert [name for name in GAMES[game].presets if f" {name} " not in shown] == []


def test_without_a_name_it_lists_the_texts(home: Home) -> None:
    result = home("rules")
    assert result.exit_code == 0
    for topic in TOPICS:
        assert f"twelfth-night rules {topic} " in result.stdout


@pytest.mark.parametrize(
    ("typed", "remedy"),
    [
        ("twelve-day", "Did you mean `twelfth-night rules twelve-days`?"),
        ("patridge", "Did you mean `twelfth-night rules partridge`?"),
        ("observation", "Did you mean `twelfth-night rules observations`?"),
        ("chess", "The topics are twelve-days, partridge, observations, moves."),
    ],
)
def test_a_typing_error_gets_the_right_name(home: Home, typed: str, remedy: str) -> None:
    result = home("rules", typed)
    assert result.exit_code == 2
    assert remedy in result.stderr


def test_only_a_terminal_gets_a_pager(monkeypatch: pytest.MonkeyPatch) -> None:
    paged: list[str] = []
    monkeypatch.setattr("bots_sdk.commands.reading.pydoc.pager", paged.append)
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stdout", piped := io.StringIO())
    reading.rules("moves")
    assert "== twelve-days ==" in piped.getvalue()
    assert not paged
    monkeypatch.setattr(sys, "stdout", Terminal())
    reading.rules("moves")
    assert "legal_moves" in paged[0]

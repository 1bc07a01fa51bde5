"""The notebook that trains a bot: its cells run, with few matches, against a stub league."""

import json
from pathlib import Path
from typing import Any

import pytest

import bots_sdk
from bots_sdk.sandbox.sources import read_source
from tests.bots_sdk.stub import StubLeague

ROOT = Path(bots_sdk.__file__).parents[1]
NOTEBOOK = ROOT / "examples" / "train_a_bot.ipynb"

pytestmark = pytest.mark.timeout(300)


def cells(kind: str) -> list[str]:
    """Return the texts of the cells of a kind."""
    document: Any = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return ["".join(each["source"]) for each in document["cells"] if each["cell_type"] == kind]


@pytest.mark.parametrize("game", ["twelve-days", "partridge"])
def test_the_cells_train_a_bot_and_upload_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], game: str
) -> None:
    version = {"bot": "blackbird", "number": 1, "state": "ready", "held": False, "qualifying": []}
    league = StubLeague()
    league.answers |= {
        "GET ladders": (200, {"results": [{"slug": game, "game": game}], "next": None}),
        "GET bots/blackbird": (200, {"name": "blackbird", "kind": "hosted", "paused": False}),
        "POST bots/blackbird/versions": (202, version),
        "GET bots/blackbird/versions/1": (200, version),
        "GET bots/blackbird/versions/1/log": (200, version),
        f"PUT ladders/{game}/entries/blackbird": (200, {}),
        f"GET ladders/{game}/entries/blackbird": (
            200,
            {"ladder": game, "next_block": "Drawn now.", "rank_progress": None},
        ),
    }
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("TWELFTH_NIGHT_TOKEN", "tn_o_1")
    text = "\n\n".join(cells("code"))
    for old, new in (
        ("MATCHES = 400", "MATCHES = 3"),
        ("ROUNDS = 3", "ROUNDS = 2"),
        ('"--blocks", "20"', '"--blocks", "1"'),
        ('GAME = "twelve-days"', f'GAME = "{game}"'),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    with league.serving():
        monkeypatch.setenv("TWELFTH_NIGHT_URL", league.url)
        exec(compile(text, NOTEBOOK.name, "exec"), {"__name__": "notebook"})
    output = capsys.readouterr().out
    assert "player_0 sees" in output
    assert "round 2: " in output
    assert "win share" in output
    assert ("PUT", f"ladders/{game}/entries/blackbird") in league.requests
    packed = read_source((tmp_path / "blackbird.zip").read_bytes())
    assert packed.files.keys() == {"bot.py", "weights.npz"}
    assert packed.files["weights.npz"] == (tmp_path / "blackbird" / "weights.npz").read_bytes()


def test_the_notebook_is_stored_without_outputs() -> None:
    document: Any = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for cell in document["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_the_files_that_the_notebook_names_exist() -> None:
    text = "\n".join(cells("markdown"))
    assert "bots_sdk/starters/trained/train.py" in text
    assert (ROOT / "bots_sdk" / "starters" / "trained" / "train.py").is_file()
    assert "(../docs/bot-guide.md#install-the-sdk)" in text
    assert "## Install the SDK" in (ROOT / "docs" / "bot-guide.md").read_text()

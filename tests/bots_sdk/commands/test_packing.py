"""The remedy for a bot whose file is sent without the files beside it."""

import subprocess
from pathlib import Path

import pytest

from bots_sdk.commands.versions import archive_remedy
from bots_sdk.sandbox.sources import read_source
from tests.bots_sdk.conftest import Home

NO_FILE = "FileNotFoundError: [Errno 2] No such file or directory: "


@pytest.mark.parametrize("where", ["sandbox", "--unconfined"])
def test_the_check_prints_a_command_that_packs_the_bot_with_its_file(
    home: Home, tmp_path: Path, where: str
) -> None:
    (tmp_path / "trn").mkdir()
    (tmp_path / "trn" / "bot.py").write_text(
        "from pathlib import Path\n"
        "MOVE = int(Path(__file__).with_name('move.txt').read_text())\n"
        "def choose(o): return o['legal_moves'][MOVE]\n"
    )
    (tmp_path / "trn" / "move.txt").write_text("0")
    options = ["--game", "partridge", *([where] if where != "sandbox" else [])]
    result = home("check", "trn/bot.py", *options)
    if "No sandbox works here" in result.stderr:
        pytest.skip("no sandbox here")
    assert result.exit_code == 1
    assert "`check` and `upload` take this file alone" in result.stdout
    _, pack = result.stdout.split("Pack both: `")
    subprocess.run(["sh", "-c", pack.split("`")[0]], check=True)
    assert read_source((tmp_path / "trn.zip").read_bytes()).files.keys() == {"bot.py", "move.txt"}
    assert "Then check the archive: `twelfth-night check trn.zip`." in result.stdout


@pytest.mark.parametrize(
    ("file", "missing", "archive"),
    [
        ("bot.py", "weights.npz", "bot.zip"),
        ("my bot/bot.py", "weights.npz", "my bot.zip"),
        ("swan.py", "weights.npz", "swan.zip"),
        ("a/swan.py", "data/weights.npz", "a/swan.zip"),
    ],
)
def test_the_printed_command_packs_the_bot_as_bot_py(
    home: Home, tmp_path: Path, file: str, missing: str, archive: str
) -> None:
    for path in (Path(file), Path(file).parent / missing):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("def choose(o): ...")
    remedy = archive_remedy(
        f"twelve-days: crash: {NO_FILE}'{missing}' (bot.py, line 1)", Path(file)
    )
    subprocess.run(["sh", "-c", remedy.split("Pack both: `")[1].split("`")[0]], check=True)
    assert read_source((tmp_path / archive).read_bytes()).files.keys() == {"bot.py", missing}


@pytest.mark.parametrize("missing", ["absent.npz", "/etc/passwd", "../first.py"])
def test_a_file_that_is_not_beside_the_bot_gets_no_command(home: Home, missing: str) -> None:
    assert archive_remedy(f"{NO_FILE}'{missing}'", Path("first.py")) == ""

"""The package that bot authors install: `engine` and `bots_sdk`, and nothing of the server."""

import subprocess
import sys
from pathlib import Path

import pytest
from setuptools.dist import Distribution

ROOT = Path(__file__).parents[2]


@pytest.fixture
def packaged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> set[str]:
    """Return the files of the wheel by path, as setuptools finds them."""
    monkeypatch.chdir(ROOT)
    distribution = Distribution({"script_name": "setup.py"})
    distribution.parse_config_files(["pyproject.toml"])
    build = distribution.get_command_obj("build_py")
    build.build_lib = str(tmp_path)
    build.ensure_finalized()
    outputs = build.get_outputs(include_bytecode=False)
    return {Path(file).relative_to(tmp_path).as_posix() for file in outputs}


def test_the_package_has_the_engine_and_the_sdk_only(packaged: set[str]) -> None:
    assert {path.partition("/")[0] for path in packaged} == {"bots_sdk", "engine"}


def test_the_package_has_every_file_of_the_engine_and_the_sdk(packaged: set[str]) -> None:
    files = {
        path.relative_to(ROOT).as_posix()
        for package in ("bots_sdk", "engine")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packaged == files


@pytest.mark.parametrize("module", ["bots_sdk", "bots_sdk.cli"])
def test_the_command_runs_as_a_module_too(module: str) -> None:
    words = [sys.executable, "-m", module, "rules", "no-such-game"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no-such-game" in done.stderr


def test_a_missing_package_is_named_with_the_remedy_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('no', name='typer')")
    done = subprocess.run(
        [sys.executable, "-m", "bots_sdk", "--help"],
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert "the package typer is not installed" in line
    assert "run `make venv`" in line

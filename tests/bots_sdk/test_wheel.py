"""The wheel of `make wheel`, installed where nothing but its own requirements can be imported."""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with `make wheel` in a copy of the checkout."""
    if shutil.which("make") is None:
        pytest.skip("needs make")
    copy = tmp_path_factory.mktemp("copy")
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    for name in ("bots_sdk", "docs", "engine", "league"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
    # The environment of the tests is there already, so make installs nothing into it.
    here = [f"VENV={sys.prefix}", f"--old-file={sys.prefix}/.project"]
    done = subprocess.run(
        ["make", "wheel", *here], cwd=copy, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [built] = (copy / "dist").iterdir()
    return built


def required(extra: str = "") -> set[str]:
    """Return the distributions that the package needs, directly or not, by their names."""
    found: set[str] = set()
    waiting = [("twelfth-night", extra)]
    while waiting:
        name, wanted = waiting.pop()
        for text in distribution(name).requires or ():
            need = Requirement(text)
            if need.marker and not need.marker.evaluate({"extra": wanted}):
                continue
            if need.name not in found:
                found.add(need.name)
                waiting += [(need.name, each) for each in ("", *need.extras)]
    return found


def environment(directory: Path, wheel: Path, extra: str = "") -> Path:
    """Return the commands of an environment with the wheel and its requirements alone."""
    try:
        distribution("pip")
    except PackageNotFoundError:
        pytest.skip("this environment has no pip")
    venv.create(directory, symlinks=True)
    python = directory / "bin" / "python"
    [packages] = (directory / "lib").glob("python*/site-packages")
    for name in required(extra):
        needed: Distribution = distribution(name)
        tops = {Path(file).parts[0] for file in needed.files or ()} - {"..", "__pycache__"}
        for top in tops:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(needed.locate_file(top)))
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps"),
            *("--no-index", "--quiet", "--disable-pip-version-check", wheel),
        ],
        check=True,
    )
    return directory / "bin"


def pip(python: Path, *words: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run pip with the settings of this machine, such as its package index."""
    options = ("--quiet", "--disable-pip-version-check", "--retries", "1")
    return subprocess.run(
        [python, "-m", "pip", *words, *options], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    return environment(tmp_path_factory.mktemp("sdk"), wheel)


def run(commands: Path, words: str, directory: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command as a person does who has activated the environment."""
    return subprocess.run(
        words.split(),
        cwd=directory,
        env={
            "PATH": f"{commands}:{os.environ['PATH']}",
            "HOME": str(directory),
            "LEAGUE_DIRECTORY": str(directory),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_has_the_files_of_the_engine_and_the_sdk(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {
        path.relative_to(ROOT).as_posix()
        for package in ("bots_sdk", "engine")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == files


def test_the_rules_in_the_wheel_are_texts_not_links(wheel: Path) -> None:
    text = zipfile.ZipFile(wheel).read("bots_sdk/rules/twelve-days.md").decode()
    assert text == (ROOT / "docs" / "rules" / "twelve-days.md").read_text()


def test_the_wheel_suits_every_machine_and_has_the_extra_for_training(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    [path] = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/METADATA")]
    metadata = zipfile.ZipFile(wheel).read(path).decode()
    assert re.search(r"^Provides-Extra: rl$", metadata, re.MULTILINE)
    assert "django" not in metadata.lower()


def test_every_command_of_a_first_bot_works_from_the_wheel(commands: Path, tmp_path: Path) -> None:
    assert "check" in run(commands, "twelfth-night --help", tmp_path).stdout
    assert "check" in run(commands, "python -m bots_sdk --help", tmp_path).stdout
    made = run(commands, "twelfth-night new mybot", tmp_path)
    assert made.returncode == 0, made.stderr
    for words in (
        "python test_mybot.py",
        "twelfth-night try mybot.py --blocks 1 --against random",
        "twelfth-night rules twelve-days",
        "python -m engine --help",
    ):
        done = run(commands, words, tmp_path)
        assert done.returncode == 0, (words, done.stderr)


def test_check_from_the_wheel_runs_the_bot_in_the_sandbox(commands: Path, tmp_path: Path) -> None:
    for directory in (tmp_path, *tmp_path.parents[:2], *commands.parents[:3]):
        directory.chmod(0o755)  # the bot's user reads the wheel's files
    (tmp_path / "mybot.py").write_text(
        "import engine.referee, bots_sdk\nraise ValueError('mine')\n"
    )
    done = run(commands, "twelfth-night check mybot.py", tmp_path)
    assert "in the league's sandbox: tier" in done.stdout + done.stderr
    assert "the bot does not load: ValueError: mine (mybot.py, line 2)" in " ".join(
        done.stdout.split()
    )
    assert done.returncode == 1


def test_a_trained_bot_without_numpy_names_the_packages_that_it_needs(
    commands: Path, tmp_path: Path
) -> None:
    made = run(commands, "twelfth-night new mybot --template trained", tmp_path)
    first, *_ = made.stdout.split("Next:\n")[1].splitlines()
    assert "pip install gymnasium numpy pettingzoo  " in first


def test_without_the_extra_there_is_no_numpy_and_with_it_an_environment(
    commands: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, wheel: Path
) -> None:
    code = tmp_path / "plays.py"
    code.write_text(
        "from bots_sdk.environments import twelve_days_v0\n"
        "env = twelve_days_v0.env()\n"
        "env.reset(seed=1)\n"
        "print(env.agent_selection)\n"
    )
    without = run(commands, "python plays.py", tmp_path)
    assert "ModuleNotFoundError: No module named 'pettingzoo'" in without.stderr
    training = environment(tmp_path_factory.mktemp("rl"), wheel, "rl")
    done = run(training, "python plays.py", tmp_path)
    assert done.stdout == "player_0\n", done.stderr


@pytest.mark.parametrize("extra", ["", "[rl]"])
def test_pip_installs_the_wheel_into_an_empty_environment(
    wheel: Path, tmp_path: Path, extra: str
) -> None:
    place = tmp_path / "environment"
    try:
        venv.create(place, symlinks=True, with_pip=True)
    except subprocess.CalledProcessError:
        pytest.skip("this Python has no ensurepip")
    python = place / "bin" / "python"
    needed = min(required())
    if extra:  # its packages are large, so only those of this machine are taken
        installed = pip(python, "install", "--no-index", f"{wheel}{extra}")
        if installed.returncode:
            pytest.skip(f"the packages of {extra} can't be had without a package index")
    elif pip(python, "download", "--no-deps", "--dest", tmp_path / "probe", needed).returncode:
        pytest.skip(f"no package index can be reached: pip did not fetch {needed}")
    else:
        installed = pip(python, "install", wheel)
        assert installed.returncode == 0, installed.stderr
    checked = pip(python, "check")
    assert checked.returncode == 0, checked.stdout
    listed = {line.partition("==")[0].lower() for line in pip(python, "freeze").stdout.splitlines()}
    assert not {"django", "celery", "psycopg"} & listed
    assert ("pettingzoo" in listed) == bool(extra)
    for words in (
        "twelfth-night --help",
        "twelfth-night rules twelve-days",
        "twelfth-night new mybot",
        "twelfth-night try mybot.py --blocks 1 --against random",
    ):
        done = run(python.parent, words, tmp_path)
        assert done.returncode == 0, (words, done.stderr)
    assert "win share" in done.stdout

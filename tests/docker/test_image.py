"""The files that the Dockerfile copies are enough to run the programs of the league."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.docs.documents import ROOT

DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
SENT = {
    line[1:]
    for line in (ROOT / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
    if line.startswith("!")
}
"""What Docker gets to see of the checkout."""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the files of the last stage."""
    directory = tmp_path_factory.mktemp("image")
    last = DOCKERFILE[DOCKERFILE.index("FROM scratch") :].splitlines()
    for line in last:
        if not line.startswith("COPY ") or "--from" in line:
            continue
        *sources, target = line.split()[1:]
        for source in sources:
            assert source in SENT
            to = directory / target
            if target.endswith("/"):
                to = to / Path(source).name
            to.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, to, ignore=ignored)
            else:
                shutil.copy(ROOT / source, to)
    return directory


@pytest.mark.parametrize(
    "words",
    [
        ["manage.py", "check"],
        ["-c", "import api.play.app, config.wsgi, config.celery, league.workers, league.tasks"],
    ],
)
def test_programs_of_the_league_start_with_the_files_of_the_image(
    image: Path, words: list[str]
) -> None:
    done = subprocess.run(
        # Without site: the environment of tests has a path to the checkout.
        [sys.executable, "-S", *words],
        env=os.environ
        | {
            "PYTHONPATH": f"{image}:{sysconfig.get_path('purelib')}",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        },
        cwd=image,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

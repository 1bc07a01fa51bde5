"""An exported ladder, for tests of the file and of the script that recomputes it."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders

from league import competitions, play, ratings
from league.models import Block, BotVersion, Ladder
from tests.api.conftest import Api
from tests.league import small
from tests.league.kept import kept

SCRIPT = finders.find("web/recompute_ladder.py") or ""
EXPORT = "ladders/quick/export"


@pytest.fixture
@kept
def ladder(db: None) -> Ladder:
    """A ladder with all that a fold can meet: versions, void blocks and unrated ones, forfeits."""
    ladder = small.ladder()
    bots = small.bots(5)
    for number in range(3):
        tournament = small.tournament(ladder)
        competitions.advance_tournament(tournament.pk)
        if number == 1:
            play.void_unfinished_block(Block.objects.filter(state="playing").first().pk)
            Block.objects.filter(pk=Block.objects.filter(state="playing").last().pk).update(
                rated=False
            )
        small.run_all()
        bots[number].current = BotVersion.objects.create(bot=bots[number], number=2)
        bots[number].save()
        if number == 1:  # back to the first version
            bots[0].current = bots[0].versions.get(number=1)
            bots[0].save()
    ratings.mark_void(block_id=Block.objects.filter(state="finished").first().pk, reason="test")
    ratings.correct(ladder.pk)
    ladder.refresh_from_db()
    return ladder


_exported: list[bytes] = []


@pytest.fixture
def exported(request: pytest.FixtureRequest) -> bytes:
    """The file of `ladder`, made once a process: what is done to it needs no database."""
    if not _exported:
        request.getfixturevalue("ladder")
        _exported.append(export(request.getfixturevalue("api")))
    return _exported[0]


def export(api: Api) -> bytes:
    response = api.get(EXPORT)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/x-ndjson"
    assert 'filename="quick.jsonl"' in response["Content-Disposition"]
    data = response.getvalue()
    response.close()
    return data


def run(path: Path, data: bytes, *, with_engine: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the script as a stranger would: without any packages, or with the engine."""
    path.write_bytes(data)
    return run_script(str(path), with_engine=with_engine)


def run_script(*arguments: str, with_engine: bool = False) -> subprocess.CompletedProcess[str]:
    packages = [] if with_engine else ["-S"]
    command = [sys.executable, "-I", *packages, SCRIPT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)


def sealed(lines: list[Any]) -> bytes:
    """Return the file of these lines, with a correct last line: a careful forgery."""
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines[:-1])
    end = {**lines[-1], "lines": len(lines) - 1, "sha256": sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"

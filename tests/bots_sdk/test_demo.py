"""The demo bot against a stub league."""

import sys
from pathlib import Path

import pytest

from bots_sdk import demo
from bots_sdk.client import Retry
from tests.bots_sdk.stub import StubLeague
from tests.bots_sdk.test_cli import run_here


def test_the_demo_reports_an_unreachable_league(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "_SHORT", Retry(0))
    monkeypatch.setattr(sys, "argv", ["demo", "http://127.0.0.1:1"])
    assert demo.main() == 3
    assert "http://127.0.0.1:1 does not answer" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_demo_finds_the_league_that_runs_here(
    stub: StubLeague,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("LEAGUE_DIRECTORY", str(tmp_path / "var"))
    monkeypatch.setattr(sys, "argv", ["demo"])
    assert demo.main() == 3
    assert "Start one with `make up`" in capsys.readouterr().err
    run_here(stub.url, tmp_path)
    monkeypatch.setattr(sys, "argv", ["demo", "--saved", str(tmp_path / "saved.json")])
    assert demo.main() == 1  # the stub has no accounts
    assert ("POST", "accounts") in stub.requests

"""Uploaded bots from their upload to the ladder, beside remote ones and those of the house."""

from pathlib import Path
from typing import Any

import pytest

from tests.journeys.running import League, league, remote_bot, sign_up, tournament, wait_for
from tests.journeys.running import wait_for_end as wait_for_tournament
from tests.journeys.test_survival import THREE, check_all_is_whole, finished, kill, set_up
from tests.league.hosting.uploaded import LOUD, RAISES

pytestmark = pytest.mark.timeout(240)


def upload(running: League, owner: str, bot: str, source: bytes) -> Any:
    """Upload a version and return it once it is checked."""
    sent = running.client.post(
        f"bots/{bot}/versions",
        files={"source": ("bot.py", source)},
        headers={"Authorization": f"Bearer {owner}"},
    )
    assert sent.status_code == 202, sent.text
    path = f"bots/{bot}/versions/{sent.json()['number']}"
    assert sent.json()["state"] == "checking"
    wait_for(lambda: running.get(path)["state"] != "checking", running.log)
    return running.get(path)


def test_uploaded_bots_play_remote_ones_and_lose_no_match_when_workers_are_killed(
    tmp_path: Path,
) -> None:
    with league(tmp_path / "var", variables=THREE) as running:
        organiser = set_up(running, move=10, bank=60)
        owner = sign_up(running, "maria")
        for name in ("maria-1", "maria-2"):
            running.post("bots", owner, name=name, kind="hosted")
        assert upload(running, owner, "maria-1", RAISES)["state"] == "refused"
        assert running.get("bots/maria-1")["version"] is None
        for name in ("maria-1", "maria-2"):
            assert upload(running, owner, name, LOUD)["state"] == "ready"
        assert running.get("bots/maria-1")["version"] == 2

        feste = sign_up(running, "feste")
        remote = remote_bot(running, feste, "feste-1")
        entered = {"maria-1": owner, "maria-2": owner, "feste-1": feste}
        number = tournament(running, organiser, entered, ladder="quick", house_bots=True)
        wait_for(lambda: finished(running, number) >= 2, running.log)
        kill(running, "play@")
        wait_for(lambda: finished(running, number) >= 5, running.log)
        kill(running, "clock@")
        assert wait_for_tournament(running, number, seconds=150)["state"] == "finished"
        remote.stop()
        matches = check_all_is_whole(running, number, [remote])
        assert not any(seat["faults"] for match in matches for seat in match["seating"])

        mixed = [
            match["id"]
            for match in matches
            if {"maria-1", "feste-1"} <= {seat["bot"] for seat in match["seating"]}
        ]
        assert mixed
        told = running.client.get(
            f"matches/{mixed[0]}/log", headers={"Authorization": f"Bearer {owner}"}
        ).json()
        assert "asked 1" in told[0]["printed"]
        assert running.client.get(f"matches/{mixed[0]}/log").status_code == 401
        remote.join(30)

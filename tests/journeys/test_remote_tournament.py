"""Four remote bots play a tournament to its end, over real HTTP, with a real worker."""

import json
from pathlib import Path

import pytest

from engine.rating import elo
from engine.rating.blocks import MatchResult, rated_places
from engine.record import read, verify
from engine.referee import FAULTS_TO_FORFEIT
from tests.journeys.running import (
    PAUSE,
    League,
    league,
    remote_bot,
    sign_up,
    tournament,
    wait_for,
    wait_for_end,
)

pytestmark = pytest.mark.timeout(180)


def folded(running: League, ladder: str) -> dict[str, int]:
    """Return the ratings that folding the records gives, from what the API tells anybody."""
    rounds: dict[int, dict[int, list[MatchResult]]] = {}
    for match in running.all(f"matches?ladder={ladder}&status=finished"):
        record = read(json.dumps(running.get(f"matches/{match['id']}/record")).encode())
        assert verify(record).is_over
        faults = [fault.seat for fault in record.faults]
        out = [seat for seat in range(record.seats) if faults.count(seat) >= FAULTS_TO_FORFEIT]
        blocks = rounds.setdefault(match["round"], {})
        blocks.setdefault(match["block"], []).append(
            MatchResult(
                seating=tuple(seat["bot"] for seat in match["seating"]),
                places=rated_places(record.places, out),
            )
        )
    standings: dict[str, elo.Standing] = {}
    for _, blocks in sorted(rounds.items()):
        finished = elo.Round(
            [
                elo.Block(number, dict.fromkeys(results[0].seating, 1), results)
                for number, results in blocks.items()
            ]
        )
        standings = dict(elo.apply_round(standings, finished).standings)
    return {bot: standing.rating for bot, standing in standings.items()}


def test_four_remote_bots_play_a_tournament_and_the_ladder_is_the_fold_of_its_records(
    tmp_path: Path, own_database: dict[str, str]
) -> None:
    with league(tmp_path / "var", variables=own_database) as running:
        organiser = sign_up(running, "olivia")
        assert "is an organiser" in running.manage("make_organiser", "olivia")
        owners = {f"feste-{i}": sign_up(running, f"owner-{i}") for i in range(4)}
        bots = [remote_bot(running, owner, name) for name, owner in owners.items()]
        number = tournament(running, organiser, owners)
        assert wait_for_end(running, number)["state"] == "finished"

        matches = running.all(f"matches?tournament={number}")
        assert [match["status"] for match in matches] == ["finished"] * 4
        assert not any(seat["faults"] for match in matches for seat in match["seating"])
        assert all(code == 200 for bot in bots for code, _ in bot.answers)
        for match in matches:
            # Each seed was committed to before the first card; a remote block has a deal a match.
            assert match["deal_seed"] is not None
        assert len({match["deal_seed"] for match in matches}) == 4

        for bot in bots:
            bot.stop()
        running.manage("shell", "-c", PAUSE)
        rounds = "ladders/twelve-days/rounds"
        wait_for(lambda: all(row["applied_at"] for row in running.all(rounds)), running.log)
        shown = {row["bot"]: row["rating"] for row in running.all("ladders/twelve-days/standings")}
        assert shown.keys() >= owners.keys()
        assert shown == folded(running, "twelve-days")
        assert sum(shown.values()) == 1_500_000 * len(shown)
        assert "0 differ" in running.manage("recompute", "twelve-days")
        page = running.client.get(f"{running.address}/ladders/twelve-days/").text
        assert all(f"{rating / 1000:.0f}" in page for rating in shown.values())
        for bot in bots:
            bot.join(10)

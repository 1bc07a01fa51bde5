"""Four remote bots play a tournament to its end, over real HTTP, with a real worker."""

from pathlib import Path

import pytest

from tests.journeys.running import (
    PAUSE,
    folded,
    league,
    remote_bot,
    sign_up,
    tournament,
    wait_for,
    wait_for_end,
)

pytestmark = pytest.mark.timeout(180)


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

"""The soak: which tables may grow in hours of play."""

from typing import Any

from benchmarks import soak

MIB = 1024 * 1024


def sample(matches: int, **tables: int) -> dict[str, Any]:
    return {
        "kinds": {},
        "disk": {"temporary files": 0},
        "tables": tables,
        "valkey": 0,
        "keys": 0,
        "matches": matches,
    }


def test_moves_of_live_matches_may_not_grow() -> None:
    samples = [sample(1, league_livemove=MIB), sample(1001, league_livemove=40 * MIB)]
    assert soak.judge(samples) == ["league_livemove: 1024 -> 40960 KiB"]


def test_turns_may_grow_and_do_not_count_in_the_bytes_of_a_match() -> None:
    samples = [
        sample(1, league_turn=MIB, league_match=0),
        sample(1001, league_turn=40 * MIB, league_match=500_000),
    ]
    assert soak.judge(samples, max_match_bytes=600) == []
    assert len(soak.judge(samples, max_match_bytes=400)) == 1


def test_a_league_that_has_stopped_to_play_does_not_pass() -> None:
    played = [sample(matches) for matches in range(0, 800, 100)]
    assert soak.judge([*played, sample(800), sample(801)]) == []
    [found] = soak.judge([*played, sample(800), sample(800), sample(800)])
    assert found == "no match ended in the last fifth of the time"

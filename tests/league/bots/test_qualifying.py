"""The reason that a qualifying match gives if its check takes too long."""

import pytest

from league.bots.qualifying import MatchSetting, why_too_long


@pytest.mark.parametrize(
    ("moves", "seconds", "remedy"),
    [
        (1, 32.0, "its `choose` does not return (an endless loop?)"),
        (40, 3.0, "The league was busy: upload the file again."),
        (90, 80.0, "Choose moves faster, or declare only the games that your bot plays"),
    ],
)
def test_a_check_that_takes_too_long_names_the_cause_by_the_time_of_the_bot(
    moves: int, seconds: float, remedy: str
) -> None:
    setting = MatchSetting("partridge", "eagle-short", 4, move_seconds=1.0)
    why = why_too_long(moves, seconds, setting, limit=120)
    assert remedy in why
    assert f"The bot used {seconds:.1f} s for its moves" in why

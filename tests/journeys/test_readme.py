"""The README: somebody who types its commands has a bot with a rank at the end."""

from pathlib import Path

import pytest

from tests.docs.running_blocks import ADDRESS, README, Place, run
from tests.journeys.running import League, league, wait_for

pytestmark = pytest.mark.timeout(600)


def test_the_commands_of_the_readme_print_its_output_and_end_with_a_rank(
    tmp_path: Path, own_database: dict[str, str]
) -> None:
    with league(tmp_path / "var", variables=own_database) as running:
        wait_for(lambda: is_ready(running), running.log)
        log = running.log().replace(running.address, ADDRESS)
        place = Place(tmp_path / "checkout", running.address, log)
        place.prepare()
        assert run(README, place) == []
        standing = running.get("bots/mybot/ladders/twelve-days")
        assert standing["rank"]


def is_ready(running: League) -> bool:
    """Return whether all parts of a league work."""
    return running.client.get(f"{running.address}/readyz").status_code == 200

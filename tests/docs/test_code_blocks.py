"""Each code block of the README and of docs/ runs, and prints the output that the page shows."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.docs.documents import blocks
from tests.docs.running_blocks import (
    ADDRESS,
    Place,
    is_same,
    matches,
    needs_league,
    pages,
    run,
)
from tests.journeys.conftest import _pristine, own_database  # noqa: F401 - fixtures
from tests.journeys.running import league, wait_for

PAGES = pages()
WITH_LEAGUE = [page for page in PAGES if needs_league(page)]
LANGUAGES = {"python", "console", "json", "text", "sh no-run"}
NOT_RUN = {"../README.md": 1, "operate.md": 2, "ratings-statistics.md": 1}
"""By page, the blocks that no test runs: they need containers, root or another machine."""

needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")


def exec_python(document: str, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the ``python`` blocks of a page in one namespace and compare their output."""
    namespace: dict[str, Any] = {"__name__": document}
    printed, heading = None, ""
    for block in blocks(document):
        if block.language == "python":
            text = block.text.replace(ADDRESS, address or ADDRESS)
            exec(compile(text, document, "exec"), namespace)
            printed, heading = capsys.readouterr().out, block.heading
        elif block.language == "text" and printed is not None and heading == block.heading:
            assert matches(block.text, printed, alike=bool(address)), printed
            printed = None


@pytest.mark.parametrize("document", [page for page in PAGES if page not in WITH_LEAGUE])
def test_the_blocks_of_a_page_run_and_print_the_output_that_it_shows(
    document: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = Place(tmp_path / "checkout")
    place.prepare()
    assert run(document, place) == []
    monkeypatch.chdir(place.directory)
    exec_python(document, "", capsys)


@needs_curl
@pytest.mark.timeout(300)
def test_the_blocks_of_pages_about_a_running_league_run_at_one(
    tmp_path: Path,
    own_database: dict[str, str],  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    directory = tmp_path / "var"
    directory.mkdir(mode=0o700)
    wrong: list[str] = []
    with league(directory, variables=own_database) as running:
        # Rounds of ladders would take the processor that the pages need.
        with psycopg.connect(own_database["DATABASE_URL"], autocommit=True) as database:
            database.execute("UPDATE league_ladder SET paused = true")
        finished = "matches?status=finished"
        wait_for(lambda: running.client.get(finished).json()["results"], running.log)
        log = running.log().replace(running.address, ADDRESS)
        environment = {"LEAGUE_DIRECTORY": str(directory)}
        places = {
            document: Place(tmp_path / Path(document).stem, running.address, log, environment)
            for document in WITH_LEAGUE
        }
        for place in places.values():
            place.prepare()
        with ThreadPoolExecutor(len(places)) as pool:  # they wait for the league most of the time
            for found in pool.map(run, places, places.values()):
                wrong += found
        for document, place in places.items():
            monkeypatch.chdir(place.directory)
            exec_python(document, running.address, capsys)
    assert not wrong, "\n\n".join(wrong)


def test_json_blocks_are_json_and_blocks_have_a_known_language() -> None:
    for document in PAGES:
        for block in blocks(document):
            assert block.language in LANGUAGES, f"{document}, under {block.heading}"
            if block.language == "json":
                json.loads(block.text)
            if block.language == "console":
                assert block.text.startswith("$ "), f"{document}: {block.text}"


def test_few_blocks_are_not_run() -> None:
    shown = {
        document: sum(block.language == "sh no-run" for block in blocks(document))
        for document in PAGES
    }
    assert {document: count for document, count in shown.items() if count} == NOT_RUN


def test_a_page_about_a_league_is_found_by_its_address() -> None:
    assert "get-started.md" in WITH_LEAGUE


def test_an_output_differs_from_the_page_in_a_word_a_key_or_a_kind() -> None:
    assert matches("Version ... is ready", "Version 12 is ready")
    assert matches("a  b\n...\nz", "a b\n1\n2\nz")
    assert not matches("Version 1 is ready", "Version 12 is ready")
    assert not matches("a\n...\nz", "a\nb")
    assert is_same({"at": "2026-01-01T00:00:00Z"}, {"at": "2027-02-02T00:00:00.123Z"}, alike=True)
    assert is_same({"id": 1, "...": "..."}, {"id": 2, "more": 1}, alike=True)
    assert not is_same({"id": 1}, {"id": 2, "more": 1}, alike=True)
    assert not is_same({"id": 1}, {"id": 2}, alike=False)
    assert not is_same({"state": "ready"}, {"state": "refused"}, alike=True)
    assert not is_same([1, 2], [1], alike=False)

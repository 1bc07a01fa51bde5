"""Each code block of the README and of docs/ runs, and prints the output that the page shows."""

import json
from pathlib import Path

import pytest

from tests.docs.documents import blocks
from tests.docs.listings import PAGE, is_listing
from tests.docs.running_blocks import Place, exec_python, is_same, matches, needs_league, pages, run

PAGES = pages()
WITH_LEAGUE = [page for page in PAGES if needs_league(page)]
LANGUAGES = {"python", "console", "json", "text", "sh", "sh no-run", "sh run"}
NOT_RUN = {"../README.md": 3, "operate.md": 9, "ratings-statistics.md": 1, "scaling.md": 1}
"""By page, the blocks that no test runs: they need containers, root or another machine."""


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


def test_json_blocks_are_json_and_blocks_have_a_known_language() -> None:
    for document in PAGES:
        for block in blocks(document):
            known = block.language in LANGUAGES or is_listing(block.language)
            assert known, f"{document}, under {block.heading}"
            if block.language == "sh run":
                assert document == PAGE, f"no test runs a block of {document}"
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

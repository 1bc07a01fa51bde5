"""Each code block of the README and of docs/ runs, and prints the output that the page shows."""

import json
import shlex
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from tests.docs.documents import ROOT, blocks
from tests.docs.listings import PAGE
from tests.docs.running_blocks import (
    Place,
    exec_python,
    file_of,
    is_same,
    matches,
    needs_league,
    pages,
    run,
)

PAGES = pages()
WITH_LEAGUE = [page for page in PAGES if needs_league(page)]
LANGUAGES = {"python", "console", "json", "text", "sh", "sh no-run", "sh run"}
NOT_RUN = {"migrations.md": 1, "operate.md": 14}
"""By page, the blocks that no test runs: they need containers, root or a cluster, or release."""
EXAMPLES = (
    "docker/.env",
    "var/backups/",
    "/var/lib/",
    "/etc/",
    "/opt/",
    "s|/opt/",
    "/usr/",
    "job/",
    "deployment/",
)
"""The beginnings of paths in these blocks that a checkout does not contain."""


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
            known = block.language in LANGUAGES or file_of(block.language)
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


def test_files_and_commands_in_blocks_that_are_not_run_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    commands = [
        shlex.split(line, comments=True)
        for document in NOT_RUN
        for block in blocks(document)
        if block.language == "sh no-run"
        for line in block.text.replace("\\\n", " ").splitlines()
    ]
    checked = 0
    for words in commands:
        for word in words:
            is_path = "/" in word[:-1] and not {":", "="} & set(word)
            if is_path and not word.startswith(EXAMPLES):
                assert list(ROOT.glob(word.removesuffix("/."))), f"{word} in {words}"
                checked += 1
        if words[0] == "make":
            assert f"\n{words[1]}:" in makefile, words
        if "manage.py" in words:
            _, command, *arguments = words[words.index("manage.py") :]
            parser = load_command_class(get_commands()[command], command)
            parser.create_parser("manage.py", command).parse_args(arguments)
            checked += 1
    assert checked > len(NOT_RUN)


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

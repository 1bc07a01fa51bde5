"""Links lead somewhere, every page can be reached, and pages have a form that the site can show."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.documents import DOCS, ROOT, lines
from tests.docs.running_blocks import pages

PAGES = [*pages(), "../CONTRIBUTING.md", "../CHANGELOG.md"]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


def prose(document: str) -> str:
    """Return the text of a page without code, each line on its own."""
    kept = [line for line, _, language in lines(document) if language is None]
    return re.sub(r"`[^`]*`", "``", "\n".join(line for line in kept if not line.startswith("```")))


def anchors(document: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    seen: Counter[str] = Counter()
    found = set()
    for line, _, language in lines(document):
        if language is None and re.match(r"#+ ", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip())
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return found


def target(document: str, name: str) -> Path:
    """Return the file that a relative link of a page leads to."""
    page = DOCS / document
    return (page.parent / name).resolve() if name else page.resolve()


def relative(document: str) -> list[str]:
    """Return the links of a page that lead to no other host."""
    found = LINK.findall(prose(document)) + PICTURE.findall(prose(document))
    return [link for link in found if "://" not in link]


@pytest.mark.parametrize("document", PAGES)
def test_each_link_of_a_page_leads_to_a_file_and_a_heading(document: str) -> None:
    for link in relative(document):
        name, _, anchor = link.partition("#")
        path = target(document, name)
        assert path.exists(), f"{document} links to {link}"
        if anchor:
            assert anchor in anchors(_name(path)), f"{document} links to {link}"


def _name(path: Path) -> str:
    return os.path.relpath(path, DOCS)


def test_every_page_can_be_reached_from_the_index() -> None:
    reached: set[Path] = set()
    waiting = [(DOCS / "index.md").resolve()]
    while waiting:
        path = waiting.pop()
        if path in reached or path.suffix != ".md" or not path.is_relative_to(ROOT):
            continue
        reached.add(path)
        document = _name(path)
        waiting += [target(document, link.partition("#")[0]) for link in relative(document)]
    missing = {path.resolve() for path in DOCS.rglob("*.md")} - reached
    assert not missing, f"link these from docs/index.md: {sorted(map(_name, missing))}"


@pytest.mark.parametrize("document", pages())
def test_a_page_has_one_title_and_no_html(document: str) -> None:
    text = prose(document)
    titles = re.findall(r"^# .*$", text, re.MULTILINE)
    assert len(titles) == 1, titles
    assert text.startswith(titles[0])
    assert not re.search(r"</?[a-z][^>]*>", text), "HTML"
    assert not re.search(r"^\n {4,}[^ \-*\d]", text, re.MULTILINE), "indented code"


def test_anchors_are_those_of_github() -> None:
    assert "what-is-a-block" in anchors("ratings.md")
    assert "nothing-of-the-kind" not in anchors("ratings.md")

"""Links from the pages to the documents: each leads to a section, and each page has one."""

import re
from pathlib import Path

import pytest
from django.template import Context, Template

from engine.games import catalogue
from web.docs.library import find

TEMPLATES = Path(__file__).resolve().parents[2] / "web" / "templates"
SOURCES = {
    file.relative_to(TEMPLATES).as_posix(): file.read_text("utf-8")
    for file in TEMPLATES.rglob("*.html")
}
LINK = re.compile(r"{% docs .*? %}")
INCLUDE = re.compile(r'{% include "([^"]+)"')
LINKS = sorted({(name, link) for name, source in SOURCES.items() for link in LINK.findall(source)})
WITHOUT_LINKS = {
    "403.html",
    "403_csrf.html",
    "404.html",
    "429.html",
    "web/docs/layout.html",
    "web/learn/away.html",
}
"""Pages of errors, and the frame of the documents themselves."""
PAGES = sorted(
    name
    for name, source in SOURCES.items()
    if '{% extends "web/base.html" %}' in source and name not in WITHOUT_LINKS
)


@pytest.mark.parametrize(("template", "link"), LINKS)
def test_a_link_to_a_document_leads_to_a_section_of_it(template: str, link: str) -> None:
    for game in catalogue.GAMES:
        rows = {
            name: {"game": game} for name in ("challenge", "ladder", "lesson", "match", "table")
        }
        address = Template(link).render(Context({**rows, "game": game}))
        path, _, anchor = address.partition("#")
        document = find(path.removeprefix("/docs/").strip("/"))
        assert document is not None, f"{template}: {link} leads to no document"
        anchors = {section.heading.anchor for section in document.sections}
        assert not anchor or anchor in anchors, f"{template}: {link} leads to no section"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_links_to_a_document(page: str) -> None:
    assert any(LINK.search(SOURCES[part]) for part in parts(page))


@pytest.mark.parametrize("page", ["web/ladder.html", "web/match.html", "web/upload.html"])
@pytest.mark.parametrize("document", ["rules/", "reference/observations"])
def test_pages_of_bot_authors_link_to_the_rules_and_the_observations(
    page: str, document: str
) -> None:
    assert any(f"{{% docs '{document}" in SOURCES[part] for part in parts(page))


def test_the_reference_of_the_api_links_to_the_rules_and_the_observations() -> None:
    source = (TEMPLATES.parents[1] / "api/templates/api/docs.html").read_text("utf-8")
    for page in ("rules/twelve-days", "rules/partridge", "reference/observations"):
        assert f'"/docs/{page}/"' in source
        assert find(page) is not None


def parts(template: str) -> set[str]:
    """Return a template with all templates that it includes."""
    found: set[str] = set()
    waiting = [template]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += INCLUDE.findall(SOURCES[name])
    return found

"""The documents on the site: pages, pictures, links, contents and search."""

import re
from html import unescape

import pytest
from django.test import Client

from web.docs.library import ROOT, library, shelves
from web.docs.search import search


def test_every_document_is_a_page_with_its_title(client: Client) -> None:
    for document in library().values():
        page = client.get(document.address)
        assert page.status_code == 200, document.address
        assert f"{document.title} · Twelfth Night</title>" in unescape(page.text)


def test_every_link_of_a_document_leads_somewhere(client: Client) -> None:
    pages = {}
    for document in library().values():
        for address in re.findall(r'(?:href|src)="([^"]*)"', document.title_html + document.html):
            target, _, anchor = unescape(address).partition("#")
            target = target or document.address
            if target.startswith("http"):
                continue
            if target not in pages:
                found = client.get(target)
                assert found.status_code == 200, f"{document.name}: {address}"
                pages[target] = found.text
            if anchor:
                assert f'id="{anchor}"' in pages[target], f"{document.name}: {address}"


def test_the_front_page_has_its_headline_before_the_search(client: Client) -> None:
    text = client.get("/docs/").text
    assert text.count("<h1") == 1
    assert text.index("<h1") < text.index('role="search"')


def test_a_document_without_its_slash_or_by_its_file_name_redirects_to_its_page(
    client: Client,
) -> None:
    found = client.get("/docs/rules/index/")
    assert (found.status_code, found["Location"]) == (301, "/docs/rules/")


@pytest.mark.parametrize(
    "path",
    ["nothing/", "rules/nothing.svg", "..%2fmanage.py/", "images/make_images.py/", "../x.svg"],
)
def test_what_is_no_document_is_not_found(client: Client, path: str) -> None:
    assert client.get(f"/docs/{path}").status_code == 404


def test_pictures_are_sent_with_their_type(client: Client) -> None:
    name = next((ROOT / "images").glob("*.svg")).name
    assert client.get(f"/docs/images/{name}")["Content-Type"] == "image/svg+xml"


def test_the_addresses_of_commands_are_those_of_the_league_that_shows_them(client: Client) -> None:
    page = client.get("/docs/get-started/", headers={"Host": "localhost:8131"}).text
    assert "twelfth-night login http://localhost:8131 --sign-up" in page
    assert "127.0.0.1:8000" not in page


def test_contents_lead_to_the_headings_of_the_page(client: Client) -> None:
    page = client.get("/docs/rules/partridge/").text
    contents = page[page.index('aria-label="On this page"') :]
    anchors = re.findall(r'href="#([^"]+)"', contents[: contents.index("</nav>")])
    assert len(anchors) > 3
    assert all(f'id="{anchor}"' in page for anchor in anchors)


def test_markup_in_a_document_is_shown_as_text() -> None:
    assert all("<script" not in document.html for document in library().values())


def test_search_finds_sections_with_all_words_and_links_to_them(client: Client) -> None:
    found = search("partridge LEAD low")
    assert found
    for result in found:
        words = f"{result.document.title} {result.section.heading.text} {result.section.text}"
        assert all(word in words.casefold() for word in ("partridge", "lead", "low"))
    page = client.get("/docs/", {"q": "partridge LEAD low"}).text
    assert f'href="{found[0].address}"' in page


@pytest.mark.parametrize("query", ["zzzz", "<b>", "(", "a" * 5000])
def test_a_search_without_results_says_what_to_do(client: Client, query: str) -> None:
    page = client.get("/docs/", {"q": query})
    assert page.status_code == 200
    assert "<b>" not in page.text.split('class="results"')[0]


def test_every_document_but_decisions_stands_in_the_list_of_documents() -> None:
    listed = {document.name for shelf in shelves() for document in shelf.documents}
    expected = {name for name in library() if not re.match(r"decisions/\d", name)}
    assert expected - {"index"} <= listed


def test_the_front_page_lists_each_document_once(client: Client) -> None:
    text = client.get("/docs/").content.decode()
    assert text.count('"/docs/bot-guide/"') == 3  # in the list, what to read first, the foot
    assert client.get("/docs/ratings/").content.decode().count('"/docs/analysis/"') == 1

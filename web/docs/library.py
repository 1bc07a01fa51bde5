"""The library: every document of `docs/` rendered from Markdown, once a process."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from os.path import normpath
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

ROOT: Path = settings.BASE_DIR / "docs"
FRONT_PAGE = "index"
BESIDE = {"contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
"""Documents of the checkout's root, by the name that they have on the site."""
EXAMPLE = "http://127.0.0.1:8000"
"""The address of the league in the documents; a league shows its own instead."""
FILES = {".svg": "image/svg+xml", ".jsonl": "application/jsonl; charset=utf-8"}
"""Suffixes of the files beside the documents that the site serves, with their media types."""

_FRAME = '<div class="scroll" tabindex="0" role="group" aria-label="Table {}"><table>'
_WITH_TEXT = ("inline", "fence", "code_block")
"""Kinds of tokens that hold a document's words."""


class Heading(NamedTuple):
    """A heading of a document.

    Attributes:
        level: 1 for the title, 2 for a section, 3 for a part of one.
        anchor: the id of its element, as GitHub makes it.
        text: without markup.
    """

    level: int
    anchor: str
    text: str


class Section(NamedTuple):
    """A heading with the plain text below it, up to the next heading; the unit of search."""

    heading: Heading
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A rendered document.

    Attributes:
        name: path below `docs/` without the suffix, such as ``rules/partridge``.
        title: text of its first heading.
        title_html: the title's element.
        html: everything below the title.
        sections: in order.
    """

    name: str
    title: str
    title_html: str
    html: str
    sections: tuple[Section, ...]

    @property
    def contents(self) -> list[Heading]:
        """The headings of its sections."""
        return [section.heading for section in self.sections if section.heading.level == 2]

    @property
    def address(self) -> str:
        """The path of its page."""
        return address_of(self.name)


class Shelf(NamedTuple):
    """A section of the front page with the documents that it links to."""

    title: str
    documents: tuple[Document, ...]


def address_of(name: str) -> str:
    """Return the path of the page of a document."""
    if name == FRONT_PAGE:
        return reverse("web:docs")
    return reverse("web:document", args=[name.removesuffix(f"/{FRONT_PAGE}")])


@cache
def library() -> dict[str, Document]:
    """Return all documents by name."""
    return {name: _render(name, file.read_text("utf-8")) for file, name in _names().items()}


def find(path: str) -> Document | None:
    """Return the document of a page, or None.

    Args:
        path: what follows ``/docs/`` in its address, without slashes at its ends.
    """
    documents = library()
    return documents.get(path) or documents.get(f"{path}/{FRONT_PAGE}")


def find_file(path: str) -> Path | None:
    """Return a file beside the documents that the site serves, such as a picture, or None."""
    suffix = Path(path).suffix
    files = ROOT.rglob(f"*{suffix}") if suffix in FILES else ()
    return next((file for file in files if file.relative_to(ROOT).as_posix() == path), None)


@cache
def shelves() -> list[Shelf]:
    """Return the documents in the order of the front page, by its sections."""
    tokens = _parser().parse((ROOT / f"{FRONT_PAGE}.md").read_text("utf-8"))
    found: dict[str, list[Document]] = {}
    title = ""
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = _text(tokens[at + 1])
        for child in token.children or ():
            file = _file_of(str(child.attrGet("href") or ""), FRONT_PAGE)
            if child.type == "link_open" and file in _names():
                found.setdefault(title, []).append(library()[_names()[file]])
    return [Shelf(title, tuple(documents)) for title, documents in found.items()]


@cache
def _names() -> dict[Path, str]:
    """Return the names of the documents by their files."""
    names = {file: file.relative_to(ROOT).with_suffix("").as_posix() for file in ROOT.rglob("*.md")}
    return dict(sorted(names.items())) | {ROOT.parent / file: name for name, file in BESIDE.items()}


def _parser() -> MarkdownIt:
    # Without raw HTML, so that a document can't add markup or scripts.
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return parser.use(anchors_plugin, min_level=1, max_level=3)


def _render(name: str, source: str) -> Document:
    parser = _parser()
    tokens = parser.parse(source)
    sections = tuple(_sections(tokens))
    title = next((one.heading.text for one in sections if one.heading.level == 1), name)
    _lead_into_the_site([child for token in tokens for child in token.children or ()], name)
    html = parser.renderer.render(tokens, parser.options, {})
    # A wide table scrolls inside its frame; a keyboard reaches the frame, which has a name.
    html = html.replace("<pre>", '<pre tabindex="0">')
    numbers = count(1)
    html = re.sub("<table>", lambda _: _FRAME.format(next(numbers)), html)
    html = html.replace("</table>", "</table></div>")
    title_html, end, html = html.partition("</h1>")
    title_html = title_html.replace("12 Days", "12\N{NO-BREAK SPACE}Days")  # on one line
    return Document(name, title, title_html + end, html, sections)


def _lead_into_the_site(tokens: Iterable[Token], name: str) -> None:
    """Change the relative links and pictures of a document so that they lead to the site."""
    address: str | None = None
    for token in tokens:
        if token.type == "image":
            token.attrSet("src", _address_on_site(str(token.attrGet("src")), name) or "")
        elif token.type == "link_open":
            address = _address_on_site(str(token.attrGet("href")), name)
            if address is None:  # the site does not show this file: its text stays, without a link
                token.tag, token.attrs = "span", {"title": "a file of the repository"}
            else:
                token.attrSet("href", address)
        elif token.type == "link_close" and address is None:
            token.tag = "span"


def _address_on_site(target: str, name: str) -> str | None:
    """Return the address that a link of a document has on the site; None if it has none.

    Args:
        target: the link as it stands in the document.
        name: of the document.
    """
    if urlsplit(target).scheme or target.startswith(("/", "#")):
        return target
    file = _file_of(target, name)
    if file.suffix in FILES and file.is_relative_to(ROOT):
        return reverse("web:document-file", args=[file.relative_to(ROOT).as_posix()])
    _, hash_sign, anchor = target.partition("#")
    return address_of(_names()[file]) + hash_sign + anchor if file in _names() else None


def _file_of(target: str, name: str) -> Path:
    """Return the file that a relative link of a document names."""
    folder = ROOT.parent if name in BESIDE else (ROOT / name).parent
    return Path(normpath(folder / target.partition("#")[0]))


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    heading: Heading | None = None
    words: list[str] = []
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and int(token.tag[1]) <= 3:
            if heading is not None:
                yield Section(heading, " ".join(words))
            text = _text(tokens[at + 1])
            heading, words = Heading(int(token.tag[1]), str(token.attrGet("id")), text), []
        elif token.type in _WITH_TEXT and tokens[at - 1].type != "heading_open":
            words.append(_text(token))
    if heading is not None:
        yield Section(heading, " ".join(words))


def _text(token: Token) -> str:
    """Return the words of a token without markup, on one line."""
    if token.children is None:
        return re.sub(r"\s+", " ", token.content)
    kinds = {"text", "code_inline", "softbreak", "hardbreak"}
    return "".join(child.content or " " for child in token.children if child.type in kinds)

"""The forms of pages, found by following links, and what to send to them."""

import random
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx

from benchmarks.fuzzing.values import NASTY

Pairs = list[tuple[str, str]]

MAX_PAGES_OF_A_KIND = 2
"""Pages that are visited of those whose addresses differ in numbers and names only."""
_AVOIDED = re.compile(r"sign-out|/logout/|/jsi18n/|/password/|\.(svg|js|css|png|jsonl)$|/api/")
_FILE = "file"


class Field(NamedTuple):
    """A field of a form, with the value that the page gives it."""

    name: str
    kind: str
    value: str


class Form(NamedTuple):
    """A form on a page."""

    page: str
    action: str
    method: str
    fields: tuple[Field, ...]

    @property
    def key(self) -> tuple[str, str, tuple[str, ...]]:
        """What it has in common with the same form on other pages."""
        return self.method, kind_of(self.action), tuple(sorted({f.name for f in self.fields}))

    def defaults(self) -> Pairs:
        """Return the values that the page gives to the fields, without files."""
        return [(f.name, f.value) for f in self.fields if f.kind not in (_FILE, "unchecked")]


class Page(HTMLParser):
    """The links and forms of a page."""

    def __init__(self, url: str, text: str) -> None:
        super().__init__()
        self._url = url
        self.links: list[str] = []
        self.forms: list[Form] = []
        self._form: dict[str, str] | None = None
        self._fields: list[Field] = []
        self._select = self._textarea = ""
        self._options: Pairs = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect links and fields."""
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in given:
            self.links.append(urldefrag(urljoin(self._url, given["href"])).url)
        elif tag == "form":
            self._form, self._fields = given, []
        elif tag == "select":
            self._select, self._options = given.get("name", ""), []
        elif tag == "option" and self._select:
            self._options.append((given.get("value", ""), "yes" if "selected" in given else ""))
        elif tag == "textarea":
            self._textarea = given.get("name", "")
            self._fields.append(Field(self._textarea, "textarea", ""))
        elif tag in ("input", "button") and given.get("name"):
            kind = given.get("type", "text")
            if kind in ("checkbox", "radio") and "checked" not in given:
                kind = "unchecked"
            self._fields.append(Field(given["name"], kind, given.get("value", "")))

    def handle_data(self, data: str) -> None:
        """Collect the text of a text area."""
        if self._textarea:
            field = self._fields[-1]
            self._fields[-1] = field._replace(value=field.value + data)

    def handle_endtag(self, tag: str) -> None:
        """Complete a selection, a text area or a form."""
        if tag == "select" and self._select:
            chosen = [value for value, is_chosen in self._options if is_chosen]
            chosen = chosen or [value for value, _ in self._options[:1]]
            self._fields += [Field(self._select, "select", value) for value in chosen]
            self._select = ""
        elif tag == "textarea":
            self._textarea = ""
        elif tag == "form" and self._form is not None:
            action = urljoin(self._url, self._form.get("action") or self._url)
            method = self._form.get("method", "get").lower()
            fields = tuple(field for field in self._fields if field.name)
            self.forms.append(Form(self._url, action, method, fields))
            self._form = None


def kind_of(url: str) -> str:
    """Return the path of an address with its numbers and names replaced."""
    path = re.sub(r"\d+", "N", urlsplit(url).path)
    return re.sub(r"^(/account/bots/|/bots/|/ladders/)[^/]+", r"\1NAME", path)


def crawl(client: httpx.Client, starts: Sequence[str], max_pages: int) -> list[Form]:
    """Return the forms of all pages that links reach, one of each kind.

    Args:
        client: with the session of a person.
        starts: paths to begin with.
        max_pages: that are visited.
    """
    host = client.base_url.netloc.decode()
    waiting = [str(client.base_url.join(path)) for path in starts]
    seen: set[str] = set()
    kinds: dict[str, int] = {}
    forms: dict[object, Form] = {}
    while waiting and len(seen) < max_pages:
        url = waiting.pop(0)
        kind = kind_of(url)
        if url in seen or kinds.get(kind, 0) >= MAX_PAGES_OF_A_KIND or _AVOIDED.search(url):
            continue
        seen.add(url)
        kinds[kind] = kinds.get(kind, 0) + 1
        answer = client.get(url, follow_redirects=True)
        if "text/html" not in answer.headers.get("content-type", ""):
            continue
        page = Page(str(answer.url), answer.text)
        waiting += [link for link in page.links if urlsplit(link).netloc == host]
        for form in page.forms:
            if not _AVOIDED.search(form.action):
                forms.setdefault(form.key, form)
    return list(forms.values())


def mutants(form: Form, others: Sequence[str], count: int, rng: random.Random) -> Iterator[Pairs]:
    """Yield wrong values for a form.

    Args:
        form: the form.
        others: names and ids of rows that belong to others.
        count: wrong values for each field.
        rng: chooses among the values.
    """
    usual = form.defaults()
    names = sorted({f.name for f in form.fields} - {"csrfmiddlewaretoken"})
    yield [pair for pair in usual if pair[0] == "csrfmiddlewaretoken"]
    yield [*usual, ("unknown", "1")]
    for name in names:
        rest = [pair for pair in usual if pair[0] != name]
        yield rest
        yield [*usual, (name, "doubled")]
        for value in rng.sample([*NASTY, *others], min(count, len(NASTY))):
            yield [*rest, (name, value)]
    for _ in range(count):
        token = [pair for pair in usual if pair[0] == "csrfmiddlewaretoken"]
        yield token + [(name, rng.choice(NASTY)) for name in names]

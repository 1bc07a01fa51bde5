"""Search in the documents: the sections that contain every word of a query."""

import re
from typing import NamedTuple

from web.docs.library import Document, Section, library

MAX_RESULTS = 30
MAX_QUERY_CHARACTERS = 100
_CONTEXT_CHARACTERS = 90
"""Text that a result shows before and after the first word found."""


class Found(NamedTuple):
    """A section that contains the query.

    Attributes:
        document: it belongs to this one.
        section: with its heading.
        before, word, after: an excerpt around the first word found; empty if only the heading
            contains it.
    """

    document: Document
    section: Section
    before: str
    word: str
    after: str

    @property
    def address(self) -> str:
        """The path of the section's page, with its anchor."""
        return f"{self.document.address}#{self.section.heading.anchor}"


def search(query: str) -> list[Found]:
    """Return the sections that contain every word of a query, the best first.

    A word in the title or heading counts more than one in the text. Upper and lower case are the
    same, and a word is found inside longer ones.
    """
    words = query[:MAX_QUERY_CHARACTERS].casefold().split()
    if not words:
        return []
    scored = []
    for document in library().values():
        title = document.title.casefold()
        for section in document.sections:
            heading, text = section.heading.text.casefold(), section.text.casefold()
            if all(word in title or word in heading or word in text for word in words):
                score = sum(
                    8 * (word in heading) + 4 * (word in title) + min(text.count(word), 3)
                    for word in words
                )
                if any(word in heading or word in text for word in words):
                    scored.append((-score, document.name, document, section))
    scored.sort(key=lambda row: row[:2])
    return [_excerpt(document, section, words) for _, _, document, section in scored[:MAX_RESULTS]]


def _excerpt(document: Document, section: Section, words: list[str]) -> Found:
    text = section.text
    found = re.search("|".join(map(re.escape, words)), text, re.IGNORECASE)
    if found is None:
        return Found(document, section, text[: 2 * _CONTEXT_CHARACTERS], "", "")
    start, end = found.span()
    before, after = text[:start], text[end:]
    if len(before) > _CONTEXT_CHARACTERS:
        before = "… " + before[-_CONTEXT_CHARACTERS:].partition(" ")[2]
    if len(after) > _CONTEXT_CHARACTERS:
        after = after[:_CONTEXT_CHARACTERS].rpartition(" ")[0] + " …"
    return Found(document, section, before, found.group(), after)

"""The rules of the games and the reference of moves and observations, as Markdown texts.

The files are links to the pages in ``docs/``, so there is one source. A wheel has copies of them.
"""

from importlib import resources

TOPICS = {
    "twelve-days": "how to play 12 Days",
    "partridge": "how to play 12 Days of Christmas",
    "observations": "everything that your bot sees",
    "moves": "everything that your bot can do",
}
"""A few words about each text, by the name of its file."""


def text(topic: str) -> str:
    """Return a text of `TOPICS` as Markdown.

    Raises:
        KeyError: there is no such text.
    """
    if topic not in TOPICS:
        raise KeyError(topic)
    return (resources.files(__name__) / f"{topic}.md").read_text(encoding="utf-8")

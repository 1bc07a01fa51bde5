"""The bots of the page about remote bots: their files, and the commands that run them."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.docs.documents import blocks
from tests.docs.running_blocks import ADDRESS

PAGE = "remote-bot.md"
TOOLS = {"Python": sys.executable, "JavaScript": "node", "Go": "go"}
"""By language, the program that runs its listing."""


class Listing(NamedTuple):
    """A bot as the page shows it.

    Attributes:
        language: the heading above it.
        file: the name that the page gives the file.
        text: of the file.
        command: that the page shows to run it.
    """

    language: str
    file: str
    text: str
    command: str


def is_listing(language: str) -> bool:
    """Return whether the language of a code block names a file too, as in ``go remote_bot.go``."""
    return " remote_bot." in language


def listings() -> Mapping[str, Listing]:
    """Return the bots of the page by language."""
    found = blocks(PAGE)
    commands = {block.heading: block.text.strip() for block in found if block.language == "sh run"}
    return {
        block.heading: Listing(
            block.heading, block.language.split()[1], block.text, commands[block.heading]
        )
        for block in found
        if is_listing(block.language)
    }


def why_not(language: str) -> str:
    """Return why the bot of a language can't run here; empty if it can."""
    tool = TOOLS[language]
    if shutil.which(tool):
        return ""
    return f"the listing in {language} was not run: no {tool} on the PATH"


def save(listing: Listing, directory: Path, address: str = ADDRESS) -> list[str]:
    """Write a bot to a directory, and return the command to run it.

    Args:
        listing: the bot.
        directory: the directory.
        address: of the league, in place of the default address in the bot's text.
    """
    text = listing.text.replace(ADDRESS, address)
    assert address in text, f"{listing.file} names no league"
    (directory / listing.file).write_text(text)
    tool, *words = listing.command.split()
    return [sys.executable if tool == "python3" else tool, *words]

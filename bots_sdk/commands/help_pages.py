"""Help pages of commands: paragraphs wrap, and flags show no type."""

import re
from typing import Any

from typer.core import TyperCommand

_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
"""A line break inside a paragraph."""


class Command(TyperCommand):
    """A command whose help wraps paragraphs, and shows no type for flags."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.help:
            self.help = _LINE_BREAK.sub(" ", self.help)

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters."""
        return without_flag_types(super().get_params(ctx))


def without_flag_types(params: Any) -> Any:
    """Return parameters whose flags show no type in the help."""
    for each in params:
        if getattr(each, "is_flag", False):
            each.metavar = ""
    return params

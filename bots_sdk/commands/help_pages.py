"""Help pages of commands: paragraphs wrap, flags show no type, arguments are in capitals."""

import re
from typing import Any

from typer.core import TyperCommand

_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
"""A line break inside a paragraph."""


class Command(TyperCommand):
    """A command whose help wraps paragraphs, and names its parameters in one way."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.help:
            self.help = _LINE_BREAK.sub(" ", self.help)

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters."""
        return named_alike(super().get_params(ctx))


def named_alike(params: Any) -> Any:
    """Return parameters whose flags show no type in the help, and whose arguments are capitals."""
    for each in params:
        if getattr(each, "is_flag", False):
            each.metavar = ""
        elif each.param_type_name == "argument" and each.metavar is None:
            each.metavar = each.name.upper()
    return params

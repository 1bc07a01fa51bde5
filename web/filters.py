"""The filters of a list: what its address chooses, and errors for values that do not exist."""

from collections.abc import Iterable
from typing import NamedTuple

from django.http import HttpRequest
from django.utils.text import get_text_list

_LONGEST_SEARCH = 80
_SHOWN = 40
"""Letters of an unknown value that an error repeats."""


class Filters(NamedTuple):
    """The filters of a request.

    Attributes:
        request: the request.
        errors: a sentence for each filter whose value is unknown, by its name. The list ignores
            these filters.
    """

    request: HttpRequest
    errors: dict[str, str]

    @property
    def wanted(self) -> str:
        """The text to search for; "" without one."""
        return self.request.GET.get("q", "").strip()[:_LONGEST_SEARCH]

    @property
    def status(self) -> int:
        """The status of the page: 400 if a value is unknown, or else 200."""
        return 400 if self.errors else 200

    def choice(self, name: str, options: Iterable[tuple[str, object]]) -> str:
        """Return the value of a filter; "" without one, or with an error if it is unknown.

        Args:
            name: of the query parameter.
            options: the known values with their words; the value "" chooses all.
        """
        value = self.request.GET.get(name, "")
        known = {key: str(word) for key, word in options if key}
        if not value or value in known:
            return value
        shown = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
        words = [key if key == word else f"{key} ({word})" for key, word in known.items()]
        self.errors[name] = (
            f"The {name} “{shown}” does not exist, so the list ignores it. "
            f"You can choose {get_text_list(words)}."
        )
        return ""


def filters_of(request: HttpRequest) -> Filters:
    """Return the filters of a request."""
    return Filters(request, {})

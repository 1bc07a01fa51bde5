"""Problems of settings: what the checks of rows return, and the error that they become."""

from typing import Any, NamedTuple

from django.core.exceptions import ValidationError


class Problem(NamedTuple):
    """A value that is not allowed: the field, and a text that names the value and the remedy."""

    field: str
    text: str


class InvalidSettingsError(ValidationError):
    """Settings that are not allowed, by field."""

    def __init__(self, problems: list[Problem]) -> None:
        by_field: dict[str, list[str]] = {}
        for problem in problems:
            by_field.setdefault(problem.field, []).append(problem.text)
        super().__init__(by_field)


def require_valid(problems: list[Problem]) -> None:
    """Raise if there are problems.

    Raises:
        InvalidSettingsError: a `ValidationError` with the texts by field.
    """
    if problems:
        raise InvalidSettingsError(problems)


def values_of(row: Any) -> dict[str, Any]:
    """Return the stored values of a row by field, without its relations."""
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}

"""A page of a list, as the API returns it."""

from typing import Generic, TypedDict, TypeVar

Row = TypeVar("Row")


class Page(TypedDict, Generic[Row]):
    """A page of a list.

    Attributes:
        results: the rows of this page.
        next: the address of the next page; None on the last one.
        previous: the address of the previous page; None on the first page.
    """

    results: list[Row]
    next: str | None
    previous: str | None

"""The type of the responses of Django's test client, which only the stubs name."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Response
else:
    from django.http import HttpResponse as Response

__all__ = ["Response"]

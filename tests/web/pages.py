"""Calls that the tests of pages share."""

import re

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext


def page(client: Client, path: str, status: int = 200) -> str:
    """Return the text of a page."""
    response = client.get(path)
    assert response.status_code == status
    return response.content.decode()


def queries(client: Client, path: str) -> int:
    """Return how many queries a page costs."""
    with CaptureQueriesContext(connection) as captured:
        page(client, path)
    return len(captured)


def words_of(text: str) -> str:
    """Return the text of a page without its tags, with single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())

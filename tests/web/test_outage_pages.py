"""The pages for errors of ours: they look like the other pages, and need no database."""

import re

import pytest
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.views.defaults import server_error

# No mark for the database: a query would fail these tests.


def test_the_page_of_an_error_has_the_look_of_the_other_pages() -> None:
    answer = server_error(RequestFactory().get("/bots/"))
    assert answer.status_code == 500
    assert_has_look(answer.content.decode())


@pytest.mark.parametrize("page", ["500.html", "503.html"])
def test_pages_for_outages_need_no_context(page: str) -> None:
    assert_has_look(render_to_string(page))


def assert_has_look(text: str) -> None:
    sheets = re.findall(r'<link rel="stylesheet" href="/static/([^"]+)"', text)
    assert sheets == ["web/base.css"]
    assert finders.find(sheets[0])
    for part in ('class="skip"', 'class="top-bar"', '<main id="main"', 'class="site-foot"', "<h1>"):
        assert part in text
    assert '<a class="button" href="/">' in text

"""The tab that tests share: nothing of a test is left in it for the next."""

import pytest

from tests.browser.conftest import WINDOW, Visit, clean

pytestmark = pytest.mark.django_db(transaction=True)


def test_nothing_of_a_test_is_left_in_the_tab(tab: Visit) -> None:
    page, context = tab.page, tab.page.context
    page.goto("/docs/")
    page.evaluate("localStorage.draft = 'a', sessionStorage.draft = 'b'")
    context.add_cookies([{"name": "sessionid", "value": "ada", "url": page.url}])
    page.route("**/docs/", lambda route: route.fulfill(status=418))
    context.route("**/learn/", lambda route: route.fulfill(status=418))
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(media="print", color_scheme="dark", reduced_motion="reduce")
    context.new_page()
    page.evaluate("console.error('an error')")
    clean(tab)
    assert tab.errors == []
    assert context.pages == [page]
    assert context.cookies() == []
    for path in ("/docs/", "/learn/"):
        response = page.goto(path)
        assert response is not None
        assert response.status == 200
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    assert page.viewport_size == WINDOW
    for changed in ("print", "(prefers-color-scheme: dark)", "(prefers-reduced-motion: reduce)"):
        assert not page.evaluate("query => matchMedia(query).matches", changed)

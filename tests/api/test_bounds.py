"""Foreign hosts, and one address that wants all threads of a web process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import Client, RequestFactory
from pytest_django import Settings

from api.bounds import FairShareMiddleware
from tests import logs
from tests.api.conftest import Api, assert_problem

BUSY, OTHER = "203.0.113.5", "203.0.113.6"


class Slow:
    """A middleware's view that answers one address at one path only when it may."""

    path = "/api/v1/games"

    def __init__(self) -> None:
        self.inside = threading.Semaphore(0)
        self.go = threading.Event()
        self.middleware = FairShareMiddleware(self._view)

    def _view(self, request: HttpRequest) -> HttpResponseBase:
        if request.META["REMOTE_ADDR"] == BUSY and request.path == self.path:
            self.inside.release()
            assert self.go.wait(20)
        return HttpResponse("done")

    def get(self, address: str, path: str = "/api/v1/games") -> HttpResponseBase:
        return self.middleware(RequestFactory().get(path, REMOTE_ADDR=address))

    @contextmanager
    def running(self, count: int) -> Iterator[None]:
        """Keep requests of the busy address running while the context lasts."""
        threads = [threading.Thread(target=self.get, args=[BUSY]) for _ in range(count)]
        for thread in threads:
            thread.start()
        for _ in threads:
            assert self.inside.acquire(timeout=20)
        yield
        self.go.set()
        for thread in threads:
            thread.join()


@pytest.fixture
def slow(settings: Settings) -> Slow:
    settings.WEB_THREADS, settings.FAIR_THREADS = 8, 2
    return Slow()


def test_the_busiest_address_gets_a_429_and_another_one_is_served_meanwhile(slow: Slow) -> None:
    with slow.running(6):
        refused = slow.get(BUSY)
        assert (refused.status_code, refused["Retry-After"]) == (429, "1")
        assert b'"code": "too-many-at-once"' in refused.content  # type: ignore[attr-defined]
        assert slow.get(BUSY, "/")["Content-Type"].startswith("text/plain")
        assert slow.get(OTHER).status_code == 200
        assert slow.get(OTHER, "/").status_code == 200
    assert slow.get(BUSY).status_code == 200


def test_an_idle_league_serves_one_address_with_more_than_its_share(slow: Slow) -> None:
    with slow.running(5):
        slow.go.set()
        assert slow.get(BUSY).status_code == 200


def test_health_and_static_files_are_never_refused(slow: Slow) -> None:
    with slow.running(6):
        for path in ("/healthz", "/healthz/web", "/static/web/site.css"):
            assert slow.get(BUSY, path).status_code == 200


@pytest.mark.parametrize("path", ["/readyz", "/metrics"])
def test_pages_that_query_all_parts_count_for_their_address(slow: Slow, path: str) -> None:
    with slow.running(6):
        assert slow.get(BUSY, path).status_code == 429
        assert slow.get(OTHER, path).status_code == 200


@pytest.mark.django_db
def test_a_stream_counts_until_it_is_closed(settings: Settings) -> None:
    settings.WEB_THREADS, settings.FAIR_THREADS = 1, 1
    middleware = FairShareMiddleware(lambda _: StreamingHttpResponse(iter([b"a", b"b"])))
    request = RequestFactory().get("/api/v1/games", REMOTE_ADDR=BUSY)
    stream = middleware(request)
    assert middleware(request).status_code == 429
    stream.close()
    assert middleware(request).status_code == 200


def test_a_failing_view_frees_its_place(settings: Settings) -> None:
    settings.WEB_THREADS, settings.FAIR_THREADS = 1, 1

    def fail(request: HttpRequest) -> HttpResponseBase:
        raise RuntimeError

    middleware = FairShareMiddleware(fail)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            middleware(RequestFactory().get("/", REMOTE_ADDR=BUSY))


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["elsewhere.example", "a b", "[::", "x" * 5000])
def test_a_foreign_host_gets_a_400_and_one_line_in_the_log(
    api: Api, client: Client, host: str, caplog: pytest.LogCaptureFixture
) -> None:
    with logs.captured() as events:
        problem = assert_problem(api.get("games", Host=host), 400, "unknown-host")
        page = client.get("/", headers={"host": host})
    assert "ALLOWED_HOSTS" in problem["detail"]
    assert page.status_code == 400
    assert [event["log_level"] for event in events] == ["info", "info"]
    assert not [record for record in caplog.records if record.name.startswith("django")]


@pytest.mark.django_db
def test_a_page_refuses_nul_in_its_address(client: Client) -> None:
    client.force_login(User.objects.create_user("ada"))
    for path in ("/?q=%00", "/ladders/quick/?q=a%00b", "/docs/?q=%00", "/docs/a%00b/"):
        assert client.get(path).status_code == 400
    assert client.post("/account/bots/x/pause/?%00=1").status_code == 400

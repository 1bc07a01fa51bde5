"""The clock's probes of the doors for bots' calls, and the thread that makes them."""

import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone
from pytest_django import Settings

from league import play, workers
from league.models import Bot, Clock, Door, Turn
from league.play import clock, outages
from league.play.clock import ClockThread
from league.play.doors import PATHS, Doors
from league.play.outages import Probe
from tests import logs
from tests.league.play.live import START, match_of, remote_bots, second
from tests.serving import serving


class Front(ThreadingHTTPServer):
    """A front that answers probes with a status, and keeps what it was sent.

    Attributes:
        status: of its answers.
        closes: whether it closes each connection after its answer, without a word of warning.
        before_answer: called before each answer.
        requests: path and host of each request.
        connections: number of connections so far.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.closes = 200, False
        self.before_answer: Callable[[], object] = lambda: None
        self.requests: list[tuple[str, str]] = []
        self.connections = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Front

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers["Host"]))
        self.server.before_answer()
        self.send_response(self.server.status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
        self.close_connection = self.server.closes

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def front() -> Iterator[Front]:
    with serving(Front()) as server:
        yield server


@pytest.fixture
def doors(front: Front) -> Iterator[Doors]:
    doors = Doors(front.address + "/")
    yield doors
    doors.close()


def faults(doors: Doors) -> dict[str, str]:
    return {probe.door: probe.fault for probe in doors.probe()}


def test_a_probe_calls_each_door_and_keeps_its_connection(front: Front, doors: Doors) -> None:
    assert faults(doors) == faults(doors) == {"play": "", "web": ""}
    assert {path for path, _ in front.requests} == set(PATHS.values())
    assert front.connections == 2


def test_a_door_that_answers_with_an_error_has_a_fault(front: Front, doors: Doors) -> None:
    front.status = 503
    assert faults(doors)["play"] == "it answered with status 503"


def test_a_connection_that_the_front_closed_is_no_fault(front: Front, doors: Doors) -> None:
    front.closes = True
    assert faults(doors) == faults(doors) == {"play": "", "web": ""}
    assert front.connections == 4


def test_a_front_that_is_away_is_a_fault_of_each_door() -> None:
    with Front() as server:
        away = server.address
    assert all("refused" in fault for fault in faults(Doors(away)).values())


def test_a_front_that_does_not_answer_is_a_fault(
    front: Front, doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("league.play.doors.TIMEOUT_SECONDS", 0.05)
    answers = threading.Event()
    monkeypatch.setattr(Handler, "send_response", lambda *_: answers.wait(20))
    assert faults(doors) == {"play": "timed out", "web": "timed out"}
    answers.set()


def test_without_an_address_there_are_no_doors() -> None:
    assert Doors("").probe() == []


@pytest.mark.parametrize(
    ("allowed", "sent"),
    [(["localhost", "127.0.0.1"], None), (["*"], None), ([".league.example"], "league.example")],
)
def test_a_probe_names_a_host_that_the_league_serves(
    front: Front, doors: Doors, settings: Settings, allowed: list[str], sent: str | None
) -> None:
    settings.ALLOWED_HOSTS = allowed
    faults(doors)
    assert front.requests[0][1] == (sent or f"127.0.0.1:{front.server_port}")


@pytest.mark.django_db(transaction=True)
def test_a_pass_probes_always_while_a_turn_is_open_and_else_rarely(
    front: Front, doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    outages.keep(START)
    assert clock.do_pass(second(0.5), doors).played == 0
    assert front.requests == []
    match_of(remote_bots(3))
    clock.do_pass(second(1), doors)
    assert len(front.requests) == 2
    assert {door.worked_until for door in Door.objects.all()} == {second(1)}
    Turn.objects.update(decided_at=second(1))
    clock.do_pass(second(1.5), doors)
    assert len(front.requests) == 2
    monkeypatch.setattr("league.play.doors.IDLE_SECONDS", 0)
    front.status = 503
    clock.do_pass(second(2), doors)
    assert not outages.web_works()
    front.status = 200
    clock.do_pass(second(2.5), doors)
    assert outages.web_works()


@pytest.mark.django_db(transaction=True)
def test_a_clock_without_an_address_forgets_the_faults_of_an_earlier_one() -> None:
    """Else no tournament would count as open to bots any more, and each would start later."""
    web = Probe("web", "https://league.example/healthz/web", "")
    outages.keep(START, [web])
    outages.keep(second(0.4), [web._replace(fault="it answered with status 403")])
    assert not outages.web_works()
    clock.do_pass(second(0.8), Doors(""))
    assert outages.web_works()


@pytest.mark.django_db(transaction=True)
def test_a_pass_plays_for_the_seats_whose_deadline_has_passed(
    front: Front, doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    match_of(remote_bots(3))
    played = []
    for step in range(12):
        now = second(step / 2)
        monkeypatch.setattr(clock, "timezone", SimpleNamespace(now=lambda now=now: now))
        played.append(clock.do_pass(now, doors).played)
    assert sum(played) == played[-1] == 3


class SlowDoors(Doors):
    """Doors that work, and take a while to answer each probe.

    Attributes:
        seconds: the time that they take.
        now: a clock that their answers move on, in seconds.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__("http://slow")
        self.seconds, self.now = seconds, 0.0

    def probe(self) -> list[Probe]:
        self.now += self.seconds
        return [Probe(door, f"http://slow{path}", "") for door, path in PATHS.items()]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seconds", [0.1, 0.7, 1.0])
def test_doors_that_answer_slowly_stop_no_clock(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    match_of(remote_bots(3))
    slow = SlowDoors(seconds)
    monkeypatch.setattr(clock, "timezone", SimpleNamespace(now=lambda: second(slow.now)))
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: slow.now))
    played, waited = 0, timedelta(0)
    while slow.now < 8:
        done = clock.do_pass(second(slow.now), slow, waited)
        played, waited = played + done.played, done.waited
        slow.now += clock.EVERY_SECONDS
    assert played == 3
    assert not Turn.objects.filter(given_back_ms__gt=0).exists()


def test_all_doors_are_probed_at_once(front: Front, doors: Doors) -> None:
    together = threading.Barrier(len(PATHS))
    front.before_answer = lambda: together.wait(10)
    assert set(faults(doors).values()) == {""}


@pytest.mark.django_db(transaction=True)
def test_a_clock_makes_passes_less_often_while_no_live_match_is_unfinished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    thread = ClockThread(Doors(""))

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        if len(waits) == 2:
            match_of(remote_bots(3))
        if len(waits) == 3:  # no turn is open, but the match goes on
            Turn.objects.update(decided_at=timezone.now())
        return len(waits) == 4

    monkeypatch.setattr(thread, "_stopping", SimpleNamespace(wait=wait))
    clock.do_pass(timezone.now(), thread._doors)  # the first one makes the clock's row
    thread.run()
    assert waits == [clock.EVERY_SECONDS, clock.REST_SECONDS, *[clock.EVERY_SECONDS] * 2]


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_opens_while_the_clock_rests_gets_no_time_back() -> None:
    doors = Doors("")
    clock.do_pass(second(0), doors)
    rested = clock.do_pass(second(0.4), doors)
    assert rested.rests
    match_of(remote_bots(3))
    after = clock.do_pass(second(0.4 + clock.REST_SECONDS), doors, rested.waited)
    assert not after.rests
    assert not Turn.objects.filter(given_back_ms__gt=0).exists()


def test_a_clock_goes_on_after_failures_and_logs_their_begin_and_end_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes: list[Any] = [OperationalError("no such socket")] * 3 + [0]
    enough = threading.Event()

    def do_pass(now: datetime, doors: Doors, waited: timedelta) -> clock.Pass:
        outcome = outcomes.pop(0) if outcomes else 0
        if isinstance(outcome, Exception):
            raise outcome
        if not outcomes:
            enough.set()
        return clock.Pass(0, timedelta(0))

    monkeypatch.setattr(clock, "EVERY_SECONDS", 0.001)
    monkeypatch.setattr(clock, "do_pass", do_pass)
    alive: list[str] = []
    monkeypatch.setattr("league.heartbeats.note_part", alive.append)
    thread = ClockThread(Doors(""))
    with logs.captured() as events:
        thread.start()
        assert enough.wait(20)
        thread.stop()
    assert [event["event"] for event in events] == [
        "the clock can't run; it tries again",
        "the clock runs again",
    ]
    assert not thread.is_alive()
    assert alive[0] == "deadlines", "what /readyz reads"


@pytest.mark.parametrize(("queues", "clocks"), [(["clock", "seats"], 1), (["play"], 0)])
def test_a_worker_runs_a_clock_if_it_serves_the_queue_of_the_clock(
    queues: list[str], clocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    class Thread:
        def start(self) -> None:
            started.append("start")

        def stop(self) -> None:
            started.append("stop")

    amqp = SimpleNamespace(queues=SimpleNamespace(consume_from=dict.fromkeys(queues)))
    monkeypatch.setattr(workers, "current_app", SimpleNamespace(amqp=amqp))
    monkeypatch.setattr(workers, "ClockThread", Thread)
    workers.start_clock()
    workers.stop_clock()
    workers.stop_clock()
    assert started == ["start", "stop"] * clocks


@pytest.mark.django_db(transaction=True)
def test_a_pass_with_many_overdue_matches_leaves_the_rest_to_the_next_round() -> None:
    bots: list[Bot] = remote_bots(3)
    for _ in range(3):
        match_of(bots)
    assert play.expire_overdue(second(60), max_seconds=0) == 0
    assert play.expire_overdue(second(60)) == 9
    assert Turn.objects.filter(fault="timeout").count() == 9
    assert not Clock.objects.exists()

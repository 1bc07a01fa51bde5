"""Reports of workers, whether their sandbox works: each kind on a host has its own."""

import re
import time

import pytest
from django.contrib.auth.models import User
from django.test import Client

from league import workers
from league.bots import sandbox_reports
from tests.web.pages import page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_other_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_reports, "_reporter", None)
    sandbox_reports.forget_all()


def report(worker: str, fault: str) -> None:
    """Report as a worker does: Celery's signal has its name."""
    workers.name_reports(sender=worker)
    sandbox_reports.note(fault)


def sandboxes(client: Client) -> dict[str, int]:
    """Return the metric of each worker's sandbox by its labels."""
    text = client.get("/metrics").content.decode()
    found = re.findall(r"^league_sandbox_ok\{(.*)\} (.*)$", text, re.MULTILINE)
    return {labels: int(float(value)) for labels, value in found}


def test_two_kinds_of_workers_on_one_host_have_a_report_each(client: Client) -> None:
    report("play@one", "no Landlock")
    report("checks@one", "")
    assert sandbox_reports.find_fault() == "hosted bots do not run: play@one: no Landlock"
    assert sandboxes(client) == {'host="one",kind="play"': 0, 'host="one",kind="checks"': 1}
    report("play@one", "")
    assert sandbox_reports.find_fault() is None


def test_the_operator_s_page_names_kind_and_host(client: Client) -> None:
    client.force_login(User.objects.create_user("olga", is_staff=True, is_superuser=True))
    report("play@one", "no Landlock")
    report("checks@one", "")
    assert "hosted bots do not run: play@one: no Landlock" in page(client, "/organise/operations/")


def test_a_report_ends_with_its_worker_or_when_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    report("play@one", "no Landlock")
    report("checks@one", "no Landlock")
    workers.forget_worker(sender="checks@one")
    assert [each.worker for each in sandbox_reports.newest()] == ["play@one"]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + sandbox_reports.REPORTED_FOR + 1)
    assert sandbox_reports.newest() == []

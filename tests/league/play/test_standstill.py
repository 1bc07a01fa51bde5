"""Matches that wait while workers are alive and play none: pages and `/readyz` show it."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from league import competitions, health, heartbeats, play
from league.bots import sandbox_reports
from league.models import Ladder, Match
from league.play.standstill import STANDSTILL, standing_still
from tests.league import small
from tests.league.competitions.placing import ada as ada
from tests.league.competitions.placing import enter
from tests.league.competitions.placing import ladder as ladder
from tests.web.pages import page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def waiting(ladder: Ladder, ada: User) -> list[int]:
    """Matches of a bot's placement whose tasks were queued longer ago than `STANDSTILL`."""
    enter(ladder, ada)
    competitions.open_placements(ladder.pk)
    queued = play.claim_due_hosted()
    Match.objects.update(created_at=timezone.now() - STANDSTILL - timedelta(seconds=1))
    return queued


def test_a_queue_that_nobody_empties_is_a_standstill(waiting: list[int]) -> None:
    assert standing_still() == len(waiting) > 0
    play.play_match(waiting[0], players=small.players)
    assert standing_still() == 0
    Match.objects.exclude(finished_at=None).update(finished_at=timezone.now() - STANDSTILL)
    assert standing_still() == len(waiting) - 1
    Match.objects.filter(pk=waiting[1]).update(
        status=Match.Status.PLAYING, leased_until=timezone.now() + timedelta(seconds=9)
    )
    assert standing_still() == 0


def test_matches_that_have_just_been_queued_are_no_standstill(waiting: list[int]) -> None:
    Match.objects.update(created_at=timezone.now())
    assert standing_still() == 0


def test_readyz_and_the_bots_page_show_a_standstill(
    client: Client, waiting: list[int], ada: User
) -> None:
    sandbox_reports.forget_all()  # of other tests
    heartbeats.note_worker(health.QUEUES)
    for part in ("beat", "gateway", "deadlines"):
        heartbeats.note_part(part)
    heartbeats.note_tick()
    response = client.get("/readyz")
    assert response.status_code == 503
    assert set(response.json()["faults"]) == {"play"}
    assert f"{len(waiting)} matches wait in the queue" in response.json()["faults"]["play"]
    shown = page(client, f"/bots/{ada.bots.get().name}/")
    assert escape("Its first blocks wait, because the league's workers play no matches") in shown
    assert "played now" not in shown
    sandbox_reports.note("no user namespaces")
    assert client.get("/readyz").json()["faults"] == {}
    sandbox_reports.forget_all()

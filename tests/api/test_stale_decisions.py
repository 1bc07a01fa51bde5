"""Decisions over the API about something that has changed since the organiser saw its preview."""

import pytest

from league import competitions
from league.models import Bot, Tournament
from tests.api.conftest import Api, assert_problem
from tests.api.test_moderation import first_block
from tests.league import small

pytestmark = pytest.mark.django_db


def test_a_decision_about_a_block_is_refused_if_the_block_has_changed_since_its_preview(
    api: Api, cup: Tournament, organiser: str
) -> None:
    path, _ = first_block(api, cup)
    seen = api.get(f"{path}/void", token=organiser).json()["seen"]
    assert seen == "finished"
    theirs = {"reason": "theirs", "seen": seen}
    assert api.post(f"{path}/void", theirs, token=organiser).status_code == 200
    for call in ("void", "replay"):
        late = api.post(f"{path}/{call}", {"reason": "mine", "seen": seen}, token=organiser)
        detail = assert_problem(late, 409, "changed-meanwhile")["detail"]
        assert "Now: void (theirs). When you saw it: finished." in detail
    void = api.get(f"{path}/void", token=organiser).json()["seen"]
    assert api.get(f"{path}/replay", token=organiser).json()["seen"] == void
    again = {"reason": "Play it again.", "seen": void}
    assert api.post(f"{path}/replay", again, token=organiser).status_code == 201
    # The block is void as before, but taking that back would void the new block too.
    late = api.call("DELETE", f"{path}/void?seen={void}", token=organiser)
    assert_problem(late, 409, "changed-meanwhile")
    seen = api.get(f"{path}/void", token=organiser).json()["seen"]
    back = api.call("DELETE", f"{path}/void?seen={seen}", token=organiser)
    assert back.json()["void_reason"] == ""


def test_a_decision_about_an_entry_is_refused_if_the_entry_has_changed_since_its_preview(
    api: Api, organiser: str
) -> None:
    small.bots(4)
    swiss = small.tournament(small.ladder(), format="swiss", swiss_rounds=2)
    competitions.advance_tournament(swiss.pk)
    entry = f"tournaments/{swiss.pk}/entries/bot-1"
    seen = api.get(f"{entry}/disqualify", token=organiser).json()["seen"]
    assert seen == "entered"
    competitions.withdraw(tournament=swiss, bot=Bot.objects.get(name="bot-1"))
    mine = {"reason": "mine", "seen": seen}
    late = api.post(f"{entry}/disqualify", mine, token=organiser)
    assert "Now: withdrawn." in assert_problem(late, 409, "changed-meanwhile")["detail"]
    assert api.call("DELETE", f"{entry}?seen={seen}", token=organiser).status_code == 204
    assert api.post(f"{entry}/disqualify", {"reason": "theirs"}, token=organiser).status_code == 200
    first = api.get(f"{entry}/disqualify", token=organiser).json()["seen"]
    assert (
        api.call("DELETE", f"{entry}/disqualify?seen={first}", token=organiser).status_code == 200
    )
    api.post(f"{entry}/disqualify", {"reason": "again"}, token=organiser)
    late = api.call("DELETE", f"{entry}/disqualify?seen={first}", token=organiser)
    assert "disqualified (again)" in assert_problem(late, 409, "changed-meanwhile")["detail"]
    late = api.call("PUT", f"{entry}?seen={first}", token=organiser)
    assert_problem(late, 409, "changed-meanwhile")


def test_a_decision_about_a_tournament_is_refused_if_it_has_changed_since_its_preview(
    api: Api, organiser: str
) -> None:
    small.bots(4)
    path = f"tournaments/{small.tournament(small.ladder(), format='swiss').pk}/cancel"
    seen = api.get(path, token=organiser).json()["seen"]
    small.run_all()
    late = api.post(path, {"reason": "mine", "seen": seen}, token=organiser)
    assert "Now: finished." in assert_problem(late, 409, "changed-meanwhile")["detail"]
    Tournament.objects.update(state="running", finished_at=None)
    assert api.post(path, {"reason": "theirs"}, token=organiser).status_code == 200
    first = api.get(path, token=organiser).json()["seen"]
    assert api.call("DELETE", f"{path}?seen={first}", token=organiser).status_code == 200
    assert api.post(path, {"reason": "again"}, token=organiser).status_code == 200
    late = api.call("DELETE", f"{path}?seen={first}", token=organiser)
    assert "cancelled (again)" in assert_problem(late, 409, "changed-meanwhile")["detail"]

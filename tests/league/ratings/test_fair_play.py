"""The report on fair play: who stands out on a ladder, for organisers alone."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from league.models import Bot, Ladder, Match
from league.models.matches import MatchSeatQuerySet
from league.ratings import fair_play
from league.ratings.fair_play import fair_play_report
from league.ratings.match_results import StoredResult, stored_results
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def ladder() -> Ladder:
    """A ladder on which five bots have played twelve rounds at random."""
    ladder = small.ladder()
    bots = [bot.pk for bot in small.bots(5)]
    tables = [[0, 1, 2], [1, 2, 3], [0, 1, 4], [2, 3, 4], [0, 1, 3]]
    for _ in range(12):
        small.play_round(ladder, *([bots[at] for at in table] for table in tables))
    return ladder


def let_win_when_fed(partner: Bot, gainer: Bot) -> None:
    """Place one bot first wherever the other sits right before it, and last where it doesn't."""
    for match in Match.objects.filter(seating__bot=partner).filter(seating__bot=gainer):
        seats = {seat.bot_id: seat for seat in match.seating.all()}
        fed = (seats[gainer.pk].seat - 1) % match.seats == seats[partner.pk].seat
        others = sorted((seat for bot, seat in seats.items() if bot != gainer.pk), key=str)
        order = [seats[gainer.pk], *others] if fed else [*others, seats[gainer.pk]]
        places = {seat.seat: place for place, seat in enumerate(order, start=1)}
        match.places = [places[seat] for seat in range(match.seats)]
        match.save(update_fields=["places"])


def test_a_colluding_pair_is_reported_with_its_matches(ladder: Ladder) -> None:
    bots = list(Bot.objects.order_by("pk"))
    let_win_when_fed(bots[0], bots[1])
    [report, *_] = fair_play_report(ladder).pairs
    assert (report.partner.name, report.gainer.name) == ("bot-0", "bot-1")
    assert len(report.matches) == 5
    assert "fed" in {report.found.question for report in fair_play_report(ladder).pairs}


def test_honest_bots_are_not_reported_and_only_organisers_see_the_report(
    client: Client, ladder: Ladder
) -> None:
    assert fair_play_report(ladder).pairs == []
    path = f"/ladders/{ladder.slug}/fair-play/"
    assert client.get(path)["Location"].startswith("/account/sign-in/")
    client.force_login(User.objects.create(username="sebastian"))
    assert client.get(path).status_code == 403
    client.force_login(User.objects.create(username="olivia", is_staff=True))
    page = client.get(path).content.decode()
    assert "No pair stands out" in page
    assert "finds in 80 % of cases" in page


def test_the_report_states_the_gains_that_it_can_find(ladder: Ladder) -> None:
    report = fair_play_report(ladder)
    assert report.blocks == 60
    fed, together = report.power
    assert (fed.question, together.question) == ("fed", "with")
    assert fed.pairs > 0
    assert fed.smallest_gain is not None
    assert 0.1 < fed.smallest_gain < 2


def test_a_round_that_is_applied_during_the_report_is_for_the_next_one(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(seats: MatchSeatQuerySet) -> Iterator[StoredResult]:
        small.play_round(ladder, list(Bot.objects.values_list("pk", flat=True)[:3]))
        return stored_results(seats)

    monkeypatch.setattr(fair_play, "stored_results", late)
    assert fair_play_report(ladder).blocks == 60
    monkeypatch.undo()
    assert fair_play_report(ladder).blocks == 61

"""The report on fair play: who stands out on a ladder, for organisers alone."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from engine.pairing import Table
from league import events, play, standings
from league.models import Bot, Ladder, Match
from league.standings.fairness import suspicious_pairs
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


def played(rounds: int) -> tuple[Ladder, list[Bot]]:
    """Return a ladder on which five bots have played at random."""
    ladder = small.ladder()
    bots = small.bots(5)
    tables = [[0, 1, 2], [1, 2, 3], [0, 1, 4], [2, 3, 4], [0, 1, 3]]
    for number in range(rounds):
        drawn = [Table(tuple(sorted(bots[at].pk for at in table)), True) for table in tables]
        round_ = events.open_round(ladder=ladder, tables=drawn, seed=bytes([number]) * 32)
        for match_id in play.take_due():
            play.play_match(match_id, players=small.players)
        standings.close_round(round_.pk)
    return ladder, bots


def let_win_when_fed(partner: Bot, gainer: Bot) -> None:
    """Place one bot first wherever the other sits right before it, and last where it doesn't."""
    for match in Match.objects.filter(seating__bot=partner).filter(seating__bot=gainer):
        seats = {seat.bot_id: seat for seat in match.seating.all()}
        fed = (seats[gainer.pk].seat - 1) % match.seats == seats[partner.pk].seat
        others = sorted((seat for bot, seat in seats.items() if bot != gainer.pk), key=str)
        order = [seats[gainer.pk], *others] if fed else [*others, seats[gainer.pk]]
        for place, seat in enumerate(order, start=1):
            seat.place = place
            seat.save()


def test_a_pair_that_works_together_is_reported_with_its_matches():
    ladder, bots = played(12)
    let_win_when_fed(bots[0], bots[1])
    [report, *_] = suspicious_pairs(ladder)
    assert (report.partner.name, report.gainer.name) == ("bot-0", "bot-1")
    assert len(report.matches) == 5
    assert "fed" in {report.found.question for report in suspicious_pairs(ladder)}


def test_honest_bots_are_not_reported_and_only_organisers_may_look(client: Client):
    ladder, _ = played(5)
    assert suspicious_pairs(ladder) == []
    path = f"/ladders/{ladder.slug}/fair-play/"
    assert client.get(path).url.startswith("/account/sign-in/")
    client.force_login(User.objects.create(username="sebastian"))
    assert client.get(path).status_code == 403
    client.force_login(User.objects.create(username="olivia", is_staff=True))
    assert "No pair stands out" in client.get(path).content.decode()

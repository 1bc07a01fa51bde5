"""The pages of challenges, and the settings that say who may challenge."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from league import bots, competitions, play
from league.models import Bot, Challenge, Ladder
from tests.league import small
from tests.web.pages import page, queries

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def mine(ada: User) -> Bot:
    """A hosted bot of Ada's beside three house bots and a ladder for three."""
    small.ladder()
    small.bots(3)
    return small.bots(1, owner=ada, prefix="ada")[0]


def test_a_test_match_starts_from_a_bots_page_and_its_page_shows_the_result(
    client: Client, ada: User, mine: Bot
) -> None:
    client.force_login(ada)
    assert 'href="/bots/ada-0/challenge/"' in page(client, "/bots/ada-0/")
    form = page(client, "/bots/ada-0/challenge/")
    assert form.count("checked") == 2
    assert "The game of one of your bot’s ladders<" in form
    competitions.enter_ladder(ladder=Ladder.objects.get(), bot=mine)
    title = Ladder.objects.get().title
    form = page(client, "/bots/ada-0/challenge/")
    assert f"The game of your bot’s ladder: {title}<" in form
    sent = {"bot": "ada-0", "opponents": ["bot-0", "bot-1"], "others": "", "game": ""}
    answer = client.post("/bots/ada-0/challenge/", sent)
    made = Challenge.objects.get()
    assert answer["Location"] == f"/challenges/{made.pk}/"
    client.logout()
    waiting = page(client, answer["Location"])
    assert "wait to be played" in waiting
    assert 'data-live="2"' in waiting
    small.play_due()
    over = page(client, answer["Location"])
    assert 'data-live=""' in over
    assert over.count("95 % interval") == 1
    assert "has a win share of" in over
    firsts = [
        [seat.bot for seat in match.seating.filter(place=1)]
        for match in made.matches.order_by("number")
    ]
    won = firsts.count([mine])
    heading = re.sub("<[^>]+>", "", over.partition("<h1>")[2].partition("</h1>")[0])
    assert heading == f"ada-0 wins {won} of 3 matches"
    lost = over.partition('id="lost"')[2].partition("</section>")[0]
    first = next(at for at, bots_ in enumerate(firsts) if mine not in bots_)
    assert f"/matches/{made.matches.get(number=first).pk}/?step=" in lost
    for match in made.matches.all():
        assert f'href="/matches/{match.pk}/"' in over
        assert f"/challenges/{made.pk}/" in page(client, f"/matches/{match.pk}/")
    assert f"/challenges/{made.pk}/" in page(client, "/bots/bot-1/matches/")


def test_a_void_challenge_shows_the_reason(client: Client, ada: User, mine: Bot) -> None:
    made = competitions.challenge(owner=ada, bot="ada-0", opponents=["bot-0", "bot-1"])
    play.void_match(made.matches.order_by("number")[0], "No worker has a sandbox.")
    shown = page(client, f"/challenges/{made.pk}/")
    assert "has no result. No worker has a sandbox." in shown


def test_a_refusal_stands_beside_the_form(client: Client, ada: User, mine: Bot) -> None:
    client.force_login(ada)
    sent = {"bot": "ada-0", "opponents": ["bot-0"], "others": "nemo", "game": ""}
    text = client.post("/bots/ada-0/challenge/", sent).content.decode()
    assert "There is no bot nemo." in text
    bots.change_bot(mine, paused=True)
    text = client.post("/bots/ada-0/challenge/", {**sent, "others": "bot-1"}).content.decode()
    assert "ada-0 is paused." in text
    assert not Challenge.objects.exists()


def test_the_bot_of_somebody_else_is_challenged_with_one_of_ones_own(
    client: Client, ada: User, mine: Bot
) -> None:
    eve = User.objects.create_user("eve")
    client.force_login(eve)
    assert "None of your bots can play now." in page(client, "/bots/ada-0/challenge/")
    small.bots(1, owner=eve, prefix="eve")
    form = page(client, "/bots/ada-0/challenge/")
    assert 'value="ada-0" id="id_opponents_0" checked' in form.replace("\n", " ")
    bots.change_bot(mine, challenges_from="nobody")
    assert "/challenge/" not in page(client, "/bots/ada-0/")
    assert "/bots/ada-0/challenge/" in page(client, "/bots/bot-0/").replace("bot-0", "ada-0")


def test_visitors_sign_in_before_they_challenge(client: Client, mine: Bot) -> None:
    answer = client.get("/bots/ada-0/challenge/")
    assert answer["Location"] == "/account/sign-in/?next=/bots/ada-0/challenge/"


def test_the_page_of_a_challenge_takes_as_many_queries_for_any_number_of_bots(
    client: Client, ada: User, mine: Bot
) -> None:
    small.bots(8, prefix="more")
    few = competitions.challenge(owner=ada, bot="ada-0", opponents=["bot-0", "bot-1"])
    names = [f"more-{number}" for number in range(4)]
    many = competitions.challenge(
        owner=ada, bot="ada-0", opponents=names, game="partridge", rules="eagle-short"
    )
    small.play_due()
    assert queries(client, f"/challenges/{few.pk}/") == queries(client, f"/challenges/{many.pk}/")

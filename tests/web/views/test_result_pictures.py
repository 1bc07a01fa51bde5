"""The pictures of challenges, comparisons and analyses, and the tags of their pages."""

import re
from io import BytesIO

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from PIL import Image

from league import analyses, competitions, play
from league.models import BotVersion, Challenge, Comparison, Match, SwapBlock, Tournament
from tests.league import small
from tests.web.pages import page
from web.pictures.drawing import as_png

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The SVG of each picture that is drawn."""
    found: list[str] = []

    def keep(svg: str) -> bytes:
        found.append(svg)
        return as_png(svg)

    caches["pictures"].clear()
    monkeypatch.setattr("web.views.pictures.as_png", keep)
    return found


def tags(client: Client, path: str) -> dict[str, str]:
    found = re.findall(r'<meta property="(og:[\w:]+)" content="([^"]*)"', page(client, path))
    return dict(found)


def headline_drawn(client: Client, path: str, drawn: list[str]) -> str:
    """Draw the picture that a page names; return its SVG after a look at its size and title."""
    about = tags(client, path)
    address = about["og:image"]
    assert address == f"http://testserver{path}picture.png"
    response = client.get(address.removeprefix("http://testserver"))
    assert response.status_code == 200
    assert Image.open(BytesIO(response.content)).size == (1200, 630)
    assert about["og:title"].removeprefix("Analysis: ") in drawn[-1]
    assert len(about["og:image:alt"]) > 20
    with CaptureQueriesContext(connection) as captured:
        client.get(f"{path}picture.png")
    assert len(captured) <= 8
    return drawn[-1]


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def test_the_picture_of_a_challenge_has_its_headline_and_pair_results(
    client: Client, ada: User, drawn: list[str]
) -> None:
    small.ladder()
    small.bots(3)
    small.bots(1, owner=ada, prefix="ada")
    made = competitions.challenge(owner=ada, bot="ada-0", opponents=["bot-0", "bot-1"])
    path = f"/challenges/{made.pk}/"
    waiting = headline_drawn(client, path, drawn)
    assert "ada-0 challenges bot-0 and bot-1" in waiting
    assert "The matches wait to be played." in waiting
    small.play_due()
    over = headline_drawn(client, path, drawn)
    state = tags(client, path)["og:description"]
    assert re.fullmatch(r"ada-0 has a win share of \d+ %\.", state)
    assert state in over
    assert re.search(r">\d+ to \d+ %<", over)
    void = competitions.challenge(owner=ada, bot="ada-0", opponents=["bot-0", "bot-1"])
    play.void_match(void.matches.earliest("number"), "No worker has a sandbox.")
    path = f"/challenges/{void.pk}/"
    assert "The challenge has no result." in headline_drawn(client, path, drawn)


def test_the_picture_of_a_comparison_has_its_verdict_and_evidence(
    client: Client, ada: User, drawn: list[str]
) -> None:
    ladder = small.ladder()
    for bot in small.bots(3):
        competitions.enter_ladder(ladder=ladder, bot=bot)
    [mine] = small.bots(1, owner=ada, prefix="ada")
    BotVersion.objects.create(bot=mine, number=2)
    made = competitions.compare(bot=mine, ladder=ladder, new=2, old=1)
    path = f"/comparisons/{made.pk}/"
    competitions.advance_comparison(made.pk)
    begun = headline_drawn(client, path, drawn)
    assert "ada-0: version 2 against 1" in begun
    assert "No verdict yet, after 0 blocks." in begun
    assert "No block is finished yet." in begun
    small.play_due()
    competitions.advance_comparison(made.pk)
    assert headline_drawn(client, path, drawn).count("<polyline") == 3
    SwapBlock.objects.exclude(difference=None).update(difference=-0.25)
    text = page(client, path)
    assert re.search(r'aria-label="match 2 of block \d+: \d+ and \d+">(\d+)–(\d+)</a>', text)
    for verdict, words in (
        ("better", "Version 2 is better."),
        ("not better", "Version 2 is not better."),
        ("no difference in behaviour", "No difference in behaviour."),
        ("undecided", "Undecided. If there is a difference, it is small."),
    ):
        Comparison.objects.update(verdict=verdict, state=Comparison.State.FINISHED)
        assert words in headline_drawn(client, path, drawn)
    Comparison.objects.update(verdict="", state=Comparison.State.CANCELLED)
    assert "Cancelled after" in headline_drawn(client, path, drawn)


def test_the_picture_of_an_analysis_has_the_chances_of_all_bots(
    client: Client, played: Tournament, drawn: list[str]
) -> None:
    match = Match.objects.finished().earliest("pk")
    path = f"/matches/{match.pk}/analysis/"
    assert "This match is not analysed yet." in headline_drawn(client, path, drawn)
    analyses.ask(match=match)
    analyses.compute(match.pk, seconds=600, playouts=8)
    done = headline_drawn(client, path, drawn)
    assert done.count("<polyline") == match.seats
    assert re.search(r"\d+ mistakes? and \d+ blunders? in \d+ decisions", done)
    for seat in match.seating.all():
        assert f">{seat.bot.name}<" in done


def test_what_does_not_exist_or_is_hidden_has_no_picture(
    client: Client, played: Tournament
) -> None:
    for path in ("challenges/999999", "comparisons/999999", "matches/999999/analysis"):
        assert client.get(f"/{path}/picture.png").status_code == 404
    small.tournament(small.ladder("other"))
    tournament = Tournament.objects.latest("pk")
    competitions.advance_tournament(tournament.pk)
    waiting = Match.objects.latest("pk")
    assert waiting.status == Match.Status.WAITING
    assert client.get(f"/matches/{waiting.pk}/analysis/picture.png").status_code == 404
    assert not Challenge.objects.exists()

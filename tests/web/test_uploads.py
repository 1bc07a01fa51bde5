"""Uploading versions on the pages, and the results of their checks."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from league import bots, competitions, play
from league.models import Bot, BotVersion, Comparison, Ladder, QualifyingMatch
from tests.league import small
from tests.league.bots.uploaded import FIRST, RAISES, hosted_bot, owner, ready_bot
from tests.responses import Response

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ada(client: Client) -> User:
    user = owner()
    client.force_login(user)
    return user


def upload(client: Client, bot: Bot, data: bytes) -> Response:
    return client.post(
        f"/account/bots/{bot.name}/upload/", {"source": SimpleUploadedFile("bot.py", data)}
    )


def text(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status
    return response.content.decode()


def test_creating_a_hosted_bot_leads_to_its_upload_and_then_to_its_check(
    client: Client, ada: User
) -> None:
    made = client.post("/account/", {"name": "my-bot", "kind": "hosted"})
    assert made["Location"] == "/account/bots/my-bot/upload/"
    bot = Bot.objects.get()
    sent = upload(client, bot, FIRST)
    assert sent["Location"] == "/account/bots/my-bot/versions/1/"
    assert "being checked" in text(client, sent["Location"])
    bots.check_version(BotVersion.objects.get().pk)
    checked = text(client, sent["Location"])
    assert "This is the current version: it plays." in checked
    assert "return observation" in checked
    assert ">plays<" in text(client, "/bots/my-bot/versions/")


def test_only_the_owner_sees_why_a_version_was_refused(client: Client, ada: User) -> None:
    bot = hosted_bot(ada)
    where = upload(client, bot, RAISES)["Location"]
    bots.check_version(BotVersion.objects.get().pk)
    shown = text(client, where)
    assert "gold" in shown
    assert "about to" in shown
    client.force_login(owner())
    text(client, where, 404)
    assert "gold" not in text(client, f"/bots/{bot.name}/")


def test_the_form_refuses_an_empty_file(client: Client, ada: User) -> None:
    refused = upload(client, hosted_bot(ada), b"")
    assert refused.status_code == 400
    assert "The file is empty" in refused.content.decode()


def test_only_the_owner_sees_the_faults_of_a_bot_on_the_match_page(
    client: Client, ada: User
) -> None:
    bots = [ready_bot(ada, RAISES), *(ready_bot(owner()) for _ in range(2))]
    match = play.open_unrated_match(
        game="twelve-days", rules="eight-nights", versions=small.versions(bots)
    )
    assert play.play_match(match.pk)
    shown = text(client, f"/matches/{match.pk}/")
    assert "Only for you" in shown
    assert f"def test_match_{match.pk}_ply_0" in shown
    client.logout()
    assert "Only for you" not in text(client, f"/matches/{match.pk}/")


def test_an_owner_compares_versions_and_promotes_one_by_hand(client: Client, ada: User) -> None:
    ladder = small.ladder()
    for bot in small.bots(3):
        competitions.enter_ladder(ladder=ladder, bot=bot)
    bot = ready_bot(ada)
    where = f"/account/bots/{bot.name}"
    assert "two versions" in text(client, f"{where}/compare/")
    newer = bots.upload(bot=bot, data=FIRST, held=True)
    bots.check_version(newer.pk)
    made = client.post(f"{where}/compare/", {"new": 2, "old": 1, "ladder": ladder.pk})
    comparison = Comparison.objects.get()
    assert made["Location"] == f"/comparisons/{comparison.pk}/"
    competitions.advance_comparison(comparison.pk)
    assert "No block is finished yet" in text(client, made["Location"])
    small.play_due()
    competitions.advance_comparison(comparison.pk)
    assert "<polyline" in text(client, made["Location"])
    of_a_match = re.compile(r"/matches/\d")
    assert not of_a_match.search(text(client, f"/bots/{bot.name}/"))  # they are not its record
    assert not of_a_match.search(text(client, "/"))
    again = client.post(f"{where}/compare/", {"new": 2, "old": 1, "ladder": ladder.pk})
    assert "Another comparison" in again.content.decode()
    client.post(f"/account/comparisons/{comparison.pk}/cancel/")
    assert "Cancelled" in text(client, made["Location"])
    client.post(f"{where}/promote/", {"version": "2"})
    bot.refresh_from_db()
    assert bot.current == newer
    client.force_login(owner())
    assert client.post(f"{where}/promote/", {"version": "1"}).status_code == 404


def test_the_form_of_a_comparison_offers_the_games_that_the_versions_play(
    client: Client, ada: User
) -> None:
    both = {"game": "partridge", "rules": "eagle"}
    other = Ladder.objects.create(slug="a", title="A ladder of another game", seats=4, **both)
    ladders = [small.ladder("early"), small.ladder("own")]
    bot = ready_bot(ada)
    competitions.enter_ladder(ladder=ladders[1], bot=bot)
    first = bot.versions.get()
    second, third = (bots.upload(bot=bot, data=FIRST, held=True) for _ in range(2))
    path = f"/account/bots/{bot.name}/compare/"
    played = {first: {"twelve-days": True}, second: {"twelve-days": True, "partridge": False}}
    for version, games in {**played, third: {"partridge": True}}.items():
        BotVersion.objects.filter(pk=version.pk).update(state=BotVersion.State.READY)
        for game, passed in games.items():
            QualifyingMatch.objects.create(version=version, game=game, passed=passed)
    shown = text(client, path)
    offered = re.search(r'<select name="ladder".*?</select>', shown, re.DOTALL)
    assert offered
    assert re.findall(r'value="(\d+)"', offered[0]) == [str(each.pk) for each in ladders[::-1]]
    assert f'value="{ladders[1].pk}" selected' in offered[0]
    chosen = re.findall(r'value="(\d)" selected', shown.replace(offered[0], ""))
    assert chosen == ["2", "1"]  # version 3 does not play the ladder's game
    refused = client.post(path, {"new": 2, "old": 1, "ladder": other.pk})
    assert refused.status_code == 400
    assert "Select a valid choice" in refused.content.decode()
    QualifyingMatch.objects.filter(version=second).update(passed=False)
    assert "needs a ladder whose game both versions play" in text(client, path)


def test_a_limit_per_day_is_a_429_that_names_the_limit_and_the_wait(
    client: Client, ada: User, settings: Settings
) -> None:
    settings.MAX_BOTS_PER_DAY = settings.MAX_UPLOADS_PER_DAY = 1
    bot = hosted_bot(ada)
    refused = client.post("/account/", {"name": "one-more", "kind": "remote"})
    assert refused.status_code == 429
    assert "An account may have at most 1 new bots in 24 hours" in refused.content.decode()
    assert upload(client, bot, FIRST).status_code == 302
    refused = upload(client, bot, FIRST + b"# more\n")
    assert refused.status_code == 429
    assert "Try again in 24 hours" in refused.content.decode()


def test_the_form_asks_before_the_file_that_plays_becomes_another_version(
    client: Client, ada: User
) -> None:
    bot = ready_bot(ada)
    form = f"/account/bots/{bot.name}/upload/"
    assert "Upload the same file again" not in text(client, form)
    data = FIRST
    asked = upload(client, bot, data)
    assert asked.status_code == 400
    assert "the same as version 1" in asked.content.decode()
    assert "Upload the same file again" in asked.content.decode()
    sent = client.post(form, {"source": SimpleUploadedFile("bot.py", data), "again": "on"})
    assert sent["Location"] == f"/account/bots/{bot.name}/versions/2/"


def test_what_an_owner_can_do_with_a_version_follows_its_state(client: Client, ada: User) -> None:
    ladder = small.ladder()
    bot = hosted_bot(ada)
    where = upload(client, bot, FIRST)["Location"]
    checking = text(client, where)
    assert checking.count('data-live="2"') == 2  # the state, and what follows from it
    assert "Withdraw version" in checking
    bots.check_version(BotVersion.objects.get().pk)
    checked = text(client, where)
    assert 'data-live="2"' not in checked
    assert "Withdraw version" not in checked
    assert f"{ladder.title}</button>" in checked
    assert "has no output" not in checked
    client.post(f"/account/bots/{bot.name}/ladders/{ladder.slug}/", {"enter": "yes"})
    entered = text(client, where)
    assert "Next: follow its matches" in entered
    assert f'href="/ladders/{ladder.slug}/"' in entered


def test_a_refused_version_leads_to_another_upload(client: Client, ada: User) -> None:
    bot = hosted_bot(ada)
    where = upload(client, bot, RAISES)["Location"]
    bots.check_version(BotVersion.objects.get().pk)
    shown = text(client, where)
    assert "Next: upload another file" in shown
    assert "Promote this version" not in shown

"""The organisers' pages: quarantine, decisions with preview and confirmation, and the log."""

import html
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from league import bots, competitions, moderation, ratings
from league.models import Block, Bot, ModerationEntry, Quarantine, Tournament
from tests.league import small
from tests.league.kept import kept
from tests.web.pages import page, words_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def cup(db: None) -> Tournament:
    """A knockout of seven bots, played to its end."""
    small.bots(7)
    cup = small.tournament(small.ladder(seats=3), format="knockout")
    small.run_all()
    return cup


@pytest.fixture
def olga(client: Client) -> User:
    """An organiser who is signed in."""
    olga = User.objects.create(username="olga", is_staff=True)
    client.force_login(olga)
    return olga


@pytest.fixture
def block(cup: Tournament) -> Block:
    found = Block.objects.filter(round__tournament=cup, round__stage=1)
    block = found.select_related("round__ladder").order_by("number").first()
    assert block is not None
    return block


def address(block: Block) -> str:
    return f"/organise/ladders/quick/rounds/{block.round.number}/blocks/{block.number}/"


def seen_on(text: str) -> str:
    found = re.search(r'name="seen" value="([^"]*)"', text)
    return html.unescape(found.group(1)) if found else ""


def test_only_organisers_open_the_pages(client: Client, cup: Tournament, block: Block) -> None:
    paths = [
        "/organise/",
        "/organise/log/",
        "/organise/log/export/",
        "/organise/bots/bot-0/",
        "/organise/accounts/ada/",
        address(block),
        f"/organise/tournaments/{cup.pk}/",
        f"/organise/tournaments/{cup.pk}/bots/bot-0/",
    ]
    for path in paths:
        assert client.get(path).status_code == 302
    client.force_login(User.objects.create(username="ada"))
    text = words_of(page(client, "/organise/", status=403).partition("<main")[2])
    assert "This page is for organisers You are signed in as ada." in text
    assert "Sign out to use another account" in text
    operate = words_of(page(client, "/organise/operations/", status=403))
    assert "This page is for the operator You are signed in as ada." in operate
    for path in paths:
        assert client.get(path).status_code == 403
        assert client.post(path, {"reason": "x"}).status_code == 403
    assert not ModerationEntry.objects.exists()


def test_a_quarantine_begins_shows_and_ends_on_its_page(client: Client, olga: User) -> None:
    ada = User.objects.create(username="ada")
    [bot] = small.bots(1, owner=ada, prefix="ada")
    path = f"/organise/bots/{bot.name}/"
    ends_at = timezone.now() + timedelta(days=1)
    sent = {"reason": "It <floods>.", "ends_at": f"{ends_at:%Y-%m-%dT%H:%M}", "seen": ""}
    assert client.post(path, sent).status_code == 302
    assert "It &lt;floods&gt;." in page(client, path)
    assert "It &lt;floods&gt;." in page(client, "/organise/")
    assert "It &lt;floods&gt;." in page(client, f"/bots/{bot.name}/")
    owner = Client()
    owner.force_login(ada)
    for public in (f"/bots/{bot.name}/", "/account/"):
        assert "It &lt;floods&gt;." in page(owner, public)
    visitor = Client()
    text = page(visitor, f"/bots/{bot.name}/")
    assert "in quarantine" in text
    assert "floods" not in text
    sent = {"lift": "yes", "why": "It behaves.", "seen": seen_on(page(client, path))}
    assert client.post(path, sent).status_code == 302
    assert "in quarantine" not in page(visitor, f"/bots/{bot.name}/")
    assert not Quarantine.objects.active(timezone.now()).exists()


def test_a_quarantine_changed_meanwhile_is_refused_once_with_both_versions(
    client: Client, olga: User
) -> None:
    [bot] = small.bots(1)
    path = f"/organise/bots/{bot.name}/"
    seen = seen_on(page(client, path))
    moderation.quarantine_bot(bot=bot, reason="theirs", made_by=olga)
    answer = client.post(path, {"reason": "mine", "ends_at": "", "seen": seen})
    assert answer.status_code == 400
    text = answer.content.decode()
    assert "theirs" in text
    assert "mine" in text
    assert Quarantine.objects.get().reason == "theirs"
    again = {"reason": "mine", "ends_at": "", "seen": seen_on(text)}
    assert client.post(path, again).status_code == 302
    assert Quarantine.objects.order_by("pk").last().reason == "mine"


def test_lifting_leaves_a_quarantine_that_another_organiser_has_begun_since(
    client: Client, olga: User
) -> None:
    [bot] = small.bots(1)
    moderation.quarantine_bot(bot=bot, reason="seen", made_by=olga)
    path = f"/organise/bots/{bot.name}/"
    seen = seen_on(page(client, path))
    moderation.quarantine_bot(bot=bot, reason="It escapes.", made_by=olga)
    answer = client.post(path, {"lift": "yes", "why": "", "seen": seen}, follow=True)
    assert "Now stored: “It escapes.”, until an organiser lifts it." in answer.content.decode()
    assert Quarantine.objects.active(timezone.now()).get().reason == "It escapes."


def test_standings_mark_a_bot_in_quarantine(client: Client, cup: Tournament, olga: User) -> None:
    assert "in quarantine" not in page(client, "/ladders/quick/")
    moderation.quarantine_bot(bot=Bot.objects.get(name="bot-3"), reason="hush-hush", made_by=olga)
    text = page(Client(), "/ladders/quick/")
    assert text.count("in quarantine") == 1
    assert "hush-hush" not in text


def test_a_block_becomes_void_after_a_preview_and_a_confirmation_that_names_it(
    client: Client, cup: Tournament, block: Block, olga: User
) -> None:
    path = address(block)
    text = page(client, path)
    assert f"Make block {block.number} of rating round {block.round.number} void" in text
    # A block whose result is the predicted one changes no rating.
    assert ("Rating then" in text) == bool(moderation.preview_void(block).ratings)
    assert f"<h1>Block {block.number} of rating round {block.round.number}</h1>" in text
    assert client.post(path, {"reason": "", "seen": seen_on(text)}).status_code == 400
    assert not ModerationEntry.objects.exists()
    sent = {"reason": "A <power> cut.", "seen": seen_on(text)}
    assert client.post(f"{path}?action=void", sent).status_code == 302
    visitor = Client()
    for public in (
        f"/ladders/quick/rounds/{block.round.number}/",
        f"/matches/{block.matches.first().pk}/",
        f"/tournaments/{cup.pk}/?round=1",
    ):
        assert "A &lt;power&gt; cut." in page(visitor, public), public
    text = page(client, path)
    assert f"Let block {block.number} of rating round {block.round.number} count again" in text
    assert client.post(f"{path}?action=restore", {"seen": seen_on(text)}).status_code == 302
    assert "A &lt;power&gt; cut." not in page(
        visitor, f"/ladders/quick/rounds/{block.round.number}/"
    )
    assert [row.action for row in ModerationEntry.objects.order_by("pk")] == [
        "void-block",
        "restore-block",
    ]


def test_a_knockouts_block_offers_both_ways_to_play_it_again(
    client: Client, cup: Tournament, block: Block, olga: User
) -> None:
    path = address(block)
    assert "Later stages stay" in page(client, f"{path}?action=replay")
    text = page(client, f"{path}?action=replay-stages")
    assert "Stages 2, 3 and 4 become void. The league draws them again when" in text
    sent = {"reason": "Wrong clock.", "seen": seen_on(text)}
    assert client.post(f"{path}?action=replay-stages", sent).status_code == 302
    small.run_all()
    for pk in ratings.ladders_to_correct():
        ratings.correct(pk)
    shown = page(Client(), f"/tournaments/{cup.pk}/")
    assert "played again" in shown
    assert "Stage 2, void" in shown
    last = Block.objects.get(replaces=block)
    text = page(Client(), f"/ladders/quick/rounds/{last.round.number}/")
    assert f"rating round {block.round.number}</a> again" in re.sub(r"\s+", " ", text)


def test_a_preview_names_the_stage_that_bots_reach_and_who_won_the_final(
    client: Client, cup: Tournament, block: Block, olga: User
) -> None:
    text = re.sub(r"\s+", " ", page(client, f"{address(block)}?action=void"))
    assert "After this decision, <strong>" in text
    assert "</strong> reach stage 2" in text
    final = Block.objects.filter(round__tournament=cup).select_related("round").latest("pk")
    text = re.sub(r"\s+", " ", page(client, f"{address(final)}?action=void"))
    assert re.search(r"</strong> wins the final[,.]", text)


def test_a_decision_over_another_organisers_is_refused_with_both_versions(
    client: Client, cup: Tournament, block: Block, olga: User
) -> None:
    bot = Bot.objects.get(name="bot-2")
    path = f"/organise/tournaments/{cup.pk}/bots/{bot.name}/"
    seen = seen_on(page(client, path))
    moderation.disqualify(tournament=cup, bot=bot, reason="theirs", made_by=olga)
    answer = client.post(path, {"reason": "mine", "seen": seen})
    assert answer.status_code == 400
    text = answer.content.decode()
    assert "Now: disqualified (theirs). When you saw it: entered." in text
    assert cup.entries.get(bot=bot).reason == "theirs"
    assert ModerationEntry.objects.count() == 1


def test_a_bot_is_disqualified_and_taken_back_on_its_page(
    client: Client, cup: Tournament, olga: User
) -> None:
    path = f"/organise/tournaments/{cup.pk}/bots/bot-1/"
    text = page(client, path)
    assert "Disqualify bot-1" in text
    sent = {"reason": "Two accounts.", "seen": seen_on(text)}
    assert client.post(path, sent).status_code == 302
    assert "bot-1 is disqualified." in page(client, path)
    assert "Two accounts." in page(Client(), f"/tournaments/{cup.pk}/")
    text = page(client, path)
    assert "Take back the disqualification of bot-1" in text
    assert client.post(path, {"seen": seen_on(text)}).status_code == 302
    assert "Two accounts." not in page(Client(), f"/tournaments/{cup.pk}/")


def test_a_bot_is_withdrawn_with_a_reason_and_entered_again_on_its_page(
    client: Client, olga: User
) -> None:
    small.bots(4)
    swiss = small.tournament(small.ladder(), format="swiss")
    competitions.advance_tournament(swiss.pk)
    path = f"/organise/tournaments/{swiss.pk}/bots/bot-1/"
    text = page(client, f"{path}?action=withdraw")
    assert "Withdraw bot-1</button>" in text
    sent = {"reason": "", "seen": seen_on(text)}
    assert client.post(f"{path}?action=withdraw", sent).status_code == 400
    sent["reason"] = "By mail."
    assert client.post(f"{path}?action=withdraw", sent).status_code == 302
    assert swiss.entries.get(bot__name="bot-1").state == "withdrawn"
    assert "<strong>Withdrawn:</strong> By mail." in page(client, path)
    shown = page(Client(), f"/tournaments/{swiss.pk}/")
    assert "<strong>bot-1</strong> was withdrawn by organisers. Reason: By mail." in shown
    text = page(client, f"{path}?action=enter")
    sent = {"reason": "", "seen": seen_on(text)}
    assert client.post(f"{path}?action=enter", sent).status_code == 302
    assert swiss.entries.get(bot__name="bot-1").state == "entered"
    assert "By mail." not in page(Client(), f"/tournaments/{swiss.pk}/")
    rows = ModerationEntry.objects.order_by("pk").values_list("action", "reason", "made_by")
    assert list(rows) == [("withdraw-bot", "By mail.", olga.pk), ("enter-bot", "", olga.pk)]


def test_a_withdrawal_before_the_start_leads_to_the_tournament(client: Client, olga: User) -> None:
    [bot] = small.bots(1, owner=User.objects.create(username="ada"), prefix="ada")
    cup = competitions.announce_tournament(
        title="Cup", ladder=small.ladder(), starts_at=timezone.now() + timedelta(hours=1)
    )
    moderation.enter(tournament=cup, bot=bot, made_by=olga)
    path = f"/organise/tournaments/{cup.pk}/bots/{bot.name}/?action=withdraw"
    sent = {"reason": "By mail.", "seen": seen_on(page(client, path))}
    answer = client.post(path, sent, follow=True)
    assert answer.redirect_chain == [(f"/organise/tournaments/{cup.pk}/", 302)]
    assert not cup.entries.exists()


def test_a_tournament_is_cancelled_with_a_reason_and_taken_back(client: Client, olga: User) -> None:
    tournament = competitions.announce_tournament(
        title="Cup", ladder=small.ladder(), starts_at=timezone.now() + timedelta(hours=1)
    )
    path = f"/organise/tournaments/{tournament.pk}/"
    text = page(client, path)
    assert client.post(path, {"reason": "No hall.", "seen": seen_on(text)}).status_code == 302
    assert "No hall." in page(Client(), f"/tournaments/{tournament.pk}/")
    Tournament.objects.update(starts_at=timezone.now() - timedelta(hours=1))
    text = page(client, path)
    answer = client.post(path, {"seen": seen_on(text)})
    assert "choose a later time" in answer.content.decode()
    new = f"{timezone.now() + timedelta(days=1):%Y-%m-%dT%H:%M}"
    assert client.post(path, {"seen": seen_on(text), "starts_at": new}).status_code == 302
    tournament.refresh_from_db()
    assert tournament.state in Tournament.NOT_STARTED


def test_a_finished_tournament_is_not_cancelled_and_the_page_shows_why(
    client: Client, olga: User
) -> None:
    cup = competitions.announce_tournament(
        title="Cup", ladder=small.ladder(), starts_at=timezone.now() + timedelta(hours=1)
    )
    Tournament.objects.update(state="finished")
    cup.refresh_from_db()
    sent = {"reason": "No hall.", "seen": str(moderation.state_of_tournament(cup))}
    answer = client.post(f"/organise/tournaments/{cup.pk}/", sent)
    assert answer.status_code == 400
    assert "The tournament is over" in answer.content.decode()
    assert "is cancelled" not in answer.content.decode()


def test_the_log_is_searched_and_exported(client: Client, olga: User) -> None:
    for number in range(2):
        [bot] = small.bots(1, prefix=f"bad{number}")
        moderation.quarantine_bot(bot=bot, reason=f"reason {number}", made_by=olga)
    text = page(client, "/organise/log/?q=reason+1")
    assert "bad1-0" in text
    assert "bad0-0" not in text
    assert "reason 0" not in page(client, "/organise/log/?action=void-block")
    file = client.get("/organise/log/export/?format=csv").getvalue().decode()
    assert file.splitlines()[0] == "id,made_at,made_by,action,subject,reason,details"
    assert len(file.splitlines()) == 3
    lines = client.get("/organise/log/export/?format=ndjson").getvalue().decode()
    assert len(lines.splitlines()) == 2


def test_a_name_leads_to_the_page_of_a_bot_or_an_account(client: Client, olga: User) -> None:
    small.bots(1)
    found = client.get("/organise/?kind=bot&name=bot-0")
    assert found["Location"] == "/organise/bots/bot-0/"
    found = client.get("/organise/?kind=account&name=olga")
    assert found["Location"] == "/organise/accounts/olga/"
    assert "There is no bot nobody." in page(client, "/organise/?kind=bot&name=nobody", 400)


def test_pages_show_the_number_of_a_block_as_it_is_stored(
    client: Client, cup: Tournament, block: Block
) -> None:
    text = page(client, f"/ladders/quick/rounds/{block.round.number}/")
    assert re.search(rf"\bBlock {block.number}\s", text)
    text = page(client, f"/matches/{block.matches.first().pk}/")
    assert re.search(rf"block {block.number}</a>", text)


def test_an_organiser_finds_a_bot_that_its_owner_renames_meanwhile(client: Client) -> None:
    ada = User.objects.create(username="ada")
    bot, _ = bots.create_bot(owner=ada, name="old-name", kind=Bot.Kind.REMOTE)
    client.force_login(User.objects.create(username="ole", is_staff=True))
    page(client, "/organise/bots/old-name/")
    bots.change_bot(bot, name="new-name")
    client.post("/organise/bots/old-name/", {"reason": "It floods the league.", "seen": ""})
    assert Quarantine.objects.get().bot == bot
    found = client.get("/organise/", {"kind": "bot", "name": "old-name"})
    assert found["Location"] == "/organise/bots/new-name/"
    page(client, "/organise/bots/no-such-bot/", status=404)


def test_an_organiser_decides_on_an_entry_whose_bot_is_renamed_meanwhile(
    client: Client, olga: User
) -> None:
    [bot] = small.bots(1, owner=User.objects.create(username="ada"), prefix="old")
    cup = small.tournament(small.ladder())
    cup.entries.create(bot=bot)
    bots.change_bot(bot, name="new-name")
    path = f"/organise/tournaments/{cup.pk}/bots/old-0/"
    page(client, path)
    client.post(path, {"reason": "It cheats.", "seen": "entered"})
    assert cup.entries.get().state == "disqualified"


def test_a_reason_that_a_tournament_would_cut_off_is_refused(client: Client, olga: User) -> None:
    small.bots(4)
    swiss = small.tournament(small.ladder(), format="swiss")
    competitions.advance_tournament(swiss.pk)
    entry = f"/organise/tournaments/{swiss.pk}/bots/bot-1/"
    for path in (f"{entry}?action=disqualify", f"{entry}?action=withdraw", entry[:-11]):
        sent = {"seen": seen_on(page(client, path))}
        answer = client.post(path, sent | {"reason": "x" * 201})
        assert answer.status_code == 400
        assert "at most 200 characters" in words_of(answer.content.decode())
    assert client.post(entry[:-11], sent | {"reason": "x" * 200}).status_code == 302
    swiss.refresh_from_db()
    assert swiss.cancel_reason == "x" * 200


def test_a_tournament_of_the_list_has_links_to_what_an_organiser_does(
    client: Client, olga: User
) -> None:
    tournament = small.tournament(small.ladder())
    page_of = f"/organise/tournaments/{tournament.pk}/"
    text = page(client, "/organise/")
    assert '<a href="/ladders/">All ladders</a>' in text  # also if there are more than the list has
    assert f'href="{page_of}#decide"' in text
    assert f'href="{page_of}change/"' in text
    assert 'href="/ladders/quick/?view=statistics#rounds"' in text
    Tournament.objects.filter(pk=tournament.pk).update(state="running")
    assert f'href="{page_of}change/"' not in page(client, "/organise/")

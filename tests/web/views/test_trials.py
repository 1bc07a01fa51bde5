"""Trying a bot from the editor: real matches in the sandbox, its faults, limits and secrecy."""

import re
from typing import Any
from urllib.parse import urljoin

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings
from redis.exceptions import RedisError

from bots_sdk import starters
from bots_sdk.sandbox.errors import SandboxUnavailableError
from engine.referee import play
from league import queueing
from league.bots import jails, trials
from league.models import Bot, BotSource, Match
from tests.league.bots.uploaded import FIRST, owner
from tests.responses import Response

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "/learn/write-a-bot/"


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    # One match is enough for what a bot does wrong; the blocks have a test of their own.
    monkeypatch.setattr(trials, "BLOCKS", 1)


def send(client: Client, source: str, game: str = "twelve-days") -> Response:
    return client.post(f"{ADDRESS}try/", {"game": game, "source": source})


def tried(client: Client, source: str, game: str = "twelve-days") -> str:
    """Try a bot; return the text of its page."""
    sent = send(client, source, game)
    assert sent.status_code == 302, sent.content.decode()
    assert trials.run(sent["Location"].split("/")[-2])
    return text(client, sent["Location"])


def text(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status
    return " ".join(response.content.decode().split())


def test_a_file_longer_than_any_form_gets_a_page_that_names_the_way_on(client: Client) -> None:
    refused = send(client, "#" * 2_700_000)
    assert refused.status_code == 413
    assert "Upload a long bot as a file" in refused.content.decode()


@pytest.mark.parametrize("game", ["twelve-days", "partridge"])
def test_the_first_bot_plays_a_block_and_its_table_is_shown(client: Client, game: str) -> None:
    source = starters.files("rules", game, "my_bot")["my_bot.py"].decode()
    page = text(client, f"{ADDRESS}?game={game}")
    assert "def choose(observation: dict[str, Any])" in page
    quotes = "&quot;" * 3
    assert f"> {quotes}my_bot: a bot for {game}.{quotes} from typing" in page
    shown = tried(client, source, game)
    assert re.search(r"Your bot wins \d of 4", shown)
    assert sum(map(int, re.findall(r"(?:st|nd|rd|th) in (\d)", shown))) == 4
    assert "over 1 block." in shown
    assert "One block proves little" in shown
    assert 'data-table="replay"' in shown
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', shown)
    places = [int(re.findall(r">(\d+)</td>", cells)[1]) for _, cells in rows]
    [above] = [at for at, (number, _) in enumerate(rows) if "shown above" in number]
    assert places[above] == max(places)  # the table shows the worst match
    assert "What went wrong" not in shown
    [address] = re.findall(r'data-source="([^"]+)"', shown)
    phases = client.get(address).json()
    assert phases["game"] == game
    assert "your-bot" in phases["names"]
    assert not Match.objects.exists()
    assert not BotSource.objects.exists()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def choose(o:\n", "SyntaxError"),
        ("x = 1\n", "choose"),
        (
            "def choose(observation):\n    print('about to')\n    return observation['gold']\n",
            "KeyError: &#x27;gold&#x27; (bot.py, line 3)",
        ),
        ("def choose(observation):\n    return 7\n", "illegal"),
        ("def choose(observation):\n    return 'play 99'\n", "play 99"),
        ("import requests\n\ndef choose(o):\n    return o['legal_moves'][0]\n", "requests"),
        ("def choose(observation):\n    return 'x' * 10**9\n", "MB of memory"),
    ],
)
def test_a_fault_is_shown_with_its_reason(client: Client, source: str, said: str) -> None:
    shown = tried(client, source)
    assert "Your bot made a fault" in shown
    assert said in shown


def test_the_traceback_has_the_bots_own_lines_only(client: Client) -> None:
    source = "def deep(o):\n    return o['gold']\n\ndef choose(o):\n    return deep(o)\n"
    shown = tried(client, source)
    [printed] = re.findall(r'class="printed"><code>(.*?)</code>', shown)
    assert set(re.findall(r"File &quot;([^&]+)&quot;, line (\d+)", printed)) == {
        ("bot.py", "2"),
        ("bot.py", "5"),
    }


def test_an_endless_loop_is_a_fault_and_earlier_output_is_shown(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "WALL_SECONDS", 200.0)  # the bot's clock ends it, not the trial's
    source = (
        "moves = 0\n\ndef choose(o):\n    global moves\n    moves += 1\n    print('move', moves)\n"
        "    while moves > 1:\n        pass\n    return o['legal_moves'][0]\n"
    )
    shown = tried(client, source)
    assert "<strong>timeout:</strong>" in shown
    assert "move 1" in shown


def test_a_bot_that_forfeits_is_last_however_many_points_it_has() -> None:
    def broken(_: object) -> str:
        raise ValueError

    def first(observation: Any) -> str:
        move: str = observation["legal_moves"][0]
        return move

    outcomes = [
        play("partridge", "eagle-short", bytes([deal] * 32), [broken, first, first])
        for deal in range(20)
    ]
    outcome = next(each for each in outcomes if each.record.places[0] < 3)
    found = trials._summary(outcome, 0, ["you", "a", "b"], "")
    assert (found["places"][0], found["share"]) == (3, 0)


def test_a_trial_ends_with_its_time(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "WALL_SECONDS", 2.0)
    shown = tried(client, "def choose(o):\n    while True:\n        pass\n")
    assert "Your bot was too slow" in shown
    assert "The time of the trial ended" in shown


def test_a_busy_machine_is_no_fault_of_the_bot(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "WALL_SECONDS", 0.0)
    shown = tried(client, FIRST.decode())
    assert "The machine was too busy" in shown
    assert "too slow" not in shown


def test_a_long_output_is_clipped_and_the_traceback_stays(client: Client) -> None:
    source = "def choose(o):\n    print('ho ' * 100_000)\n    raise ValueError('the end')\n"
    shown = tried(client, source)
    [printed] = re.findall(r'class="printed"><code>(.*?)</code>', shown)
    assert len(printed) < trials.MAX_PRINTED + 500
    assert printed.startswith("ho ho")
    assert "ValueError: the end" in printed


@pytest.mark.parametrize(
    ("source", "status", "said"),
    [
        ("", 400, "The editor is empty"),
        (" \n\t\n", 400, "The editor is empty"),
        ("#" * 200_000, 413, "200,000 bytes"),
    ],
)
def test_a_file_that_can_not_be_tried_is_refused_and_stays_in_the_editor(
    client: Client, source: str, status: int, said: str
) -> None:
    refused = send(client, source)
    assert refused.status_code == status
    page = refused.content.decode()
    assert said in page
    assert source in page
    assert send(client, FIRST.decode()).status_code == 302  # the place is free again


def test_after_a_refusal_the_editor_leads_to_the_other_game(client: Client) -> None:
    refused = send(client, "")
    links = re.findall(r'href="([^"]*\?game=[^"]*)"', refused.content.decode())
    assert len(links) == 2
    for link in links:
        page = client.get(urljoin(f"{ADDRESS}try/", link))
        assert page.status_code == 200
        assert f'data-game="{link.partition("=")[2]}"' in page.content.decode()


def test_a_client_has_one_trial_at_a_time(client: Client) -> None:
    first = send(client, FIRST.decode())
    second = send(client, FIRST.decode())
    assert second.status_code == 429
    assert "is being tried" in second.content.decode()
    assert first["Location"] not in second.content.decode()
    elsewhere = Client(REMOTE_ADDR="203.0.113.9")
    assert send(elsewhere, FIRST.decode()).status_code == 302
    trials.run(first["Location"].split("/")[-2])
    assert send(client, FIRST.decode()).status_code == 302


def test_two_people_behind_one_address_do_not_wait_for_each_other_once_signed_in() -> None:
    for _ in range(2):
        client = Client()
        client.force_login(owner())
        assert send(client, FIRST.decode()).status_code == 302


def test_only_the_address_of_a_trial_leads_to_it(client: Client) -> None:
    places = [
        send(Client(REMOTE_ADDR=f"203.0.113.{at}"), FIRST.decode())["Location"] for at in (1, 2)
    ]
    ids = [place.split("/")[-2] for place in places]
    assert len({*ids}) == 2
    assert all(len(each) >= 32 for each in ids)  # 192 random bits
    for path in (f"{ADDRESS}trials/1/", f"{ADDRESS}trials/{ids[0][:-1]}/"):
        text(client, path, 404)


def test_a_trial_waits_while_too_many_are_played(client: Client) -> None:
    for number in range(trials.AT_ONCE):
        cache.add(f"trial-place-{number}", 1)
    sent = send(client, FIRST.decode())
    trial_id = sent["Location"].split("/")[-2]
    assert not trials.run(trial_id)
    page = text(client, sent["Location"])
    assert "It waits for a free place" in page
    assert 'http-equiv="refresh"' in page
    cache.delete("trial-place-0")
    assert trials.run(trial_id)
    assert cache.get("trial-place-0") is None
    assert "Your bot wins" in text(client, sent["Location"])


def test_a_trial_is_removed_after_an_hour(client: Client) -> None:
    sent = send(client, FIRST.decode())
    trial_id = sent["Location"].split("/")[-2]
    assert trials.run(trial_id)
    left = queueing.broker().ttl(cache.make_key(f"trial-{trial_id}"))
    assert 0 < left <= 3600


def test_a_broken_sandbox_is_no_fault_of_the_bot(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise SandboxUnavailableError("no namespaces")

    monkeypatch.setattr(jails, "jail", broken)
    shown = tried(client, FIRST.decode())
    assert "The league could not run your bot" in shown
    assert send(client, FIRST.decode()).status_code == 302


def test_trials_of_an_address_have_a_rate_limit(client: Client, settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"trials": (1, 3600)}
    assert send(client, FIRST.decode()).status_code == 302
    refused = send(client, FIRST.decode() + "# mine")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    page = refused.content.decode()
    assert "You can try 1 bot in 60 minutes from your network address (IP)." in page
    assert "# mine</textarea>" in page  # without JavaScript, only the page has the file


def test_a_class_behind_one_address_shares_no_rate_limit_once_signed_in(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"trials": (1, 3600)}
    for _ in range(2):
        client = Client()
        client.force_login(owner())
        assert send(client, FIRST.decode()).status_code == 302
        elsewhere = Client(REMOTE_ADDR="203.0.113.9")
        elsewhere.cookies = client.cookies
        assert "from your account" in send(elsewhere, FIRST.decode()).content.decode()


def test_an_operator_can_switch_trials_off(client: Client, settings: Settings) -> None:
    settings.TRY_IN_BROWSER = False
    text(client, ADDRESS, 404)
    assert send(client, FIRST.decode()).status_code == 404
    assert "write-a-bot" not in text(client, "/learn/twelve-days/")


def test_the_file_of_a_trial_becomes_a_version_after_signing_up(client: Client) -> None:
    sent = send(client, FIRST.decode())
    trial_id = sent["Location"].split("/")[-2]
    wanted = f"{ADDRESS}upload/?trial={trial_id}"
    asked = client.get(wanted)
    assert asked["Location"].startswith("/account/sign-up/?next=")
    signed_up = client.post(asked["Location"], {"username": "eve", "password": "long-midwinter-9"})
    assert wanted.replace("&", "&amp;") in signed_up.content.decode()
    form = client.get(wanted).content.decode()
    assert "legal_moves" in form
    made = client.post(wanted, {"name": "eves-bot", "source": FIRST.decode()})
    assert made["Location"] == "/account/bots/eves-bot/versions/1/"
    assert bytes(BotSource.objects.get().data) == FIRST
    again = client.post(wanted, {"name": "eves-bot", "source": FIRST.decode() + "# 2\n"})
    assert again["Location"] == "/account/bots/eves-bot/versions/2/"


def test_no_bot_is_left_of_an_upload_that_is_refused(client: Client) -> None:
    client.force_login(User.objects.create(username="eve"))
    refused = client.post(f"{ADDRESS}upload/", {"name": "eves-bot", "source": "PK\x03\x04"})
    assert refused.status_code == 400
    assert not Bot.objects.exists()


@pytest.mark.parametrize("next_page", ["https://evil.example/", "//evil.example/"])
def test_signing_up_leads_to_no_other_site(client: Client, next_page: str) -> None:
    sent = {"username": "eve", "password": "long-midwinter-9"}
    page = client.post(f"/account/sign-up/?next={next_page}", sent).content.decode()
    assert "evil" not in page


def test_the_editor_weighs_little_over_the_wire(client: Client) -> None:
    weight = 0
    for name in ("ace.js", "mode-python.js", "ace.css"):
        answer = client.get(f"{ADDRESS}ace/{name}", headers={"Accept-Encoding": "gzip"})
        assert answer["Content-Encoding"] == "gzip"
        weight += len(answer.content)
    assert weight < 200_000
    text(client, f"{ADDRESS}ace/theme-twilight.js", 404)
    text(client, f"{ADDRESS}ace/main-99.png", 404)


def test_the_time_of_all_matches_says_that_a_bot_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    played = {"seat": 0, "scores": [1], "places": [1], "share": 0.5, "names": [], "record": ""}
    whole = {**played, "faults": [], "printed": "", "seconds": trials.WALL_SECONDS / 3}

    def match(setting: object, source: object, seat: int, *_: object) -> dict[str, object]:
        if seat < 2:
            return whole
        raise trials._StoppedError("", 0.1)

    monkeypatch.setattr(trials, "_match", match)
    trial = trials.Trial("x", "twelve-days", FIRST.decode(), "playing", 0.0, "ada")
    assert trials._played(trial)["stopped"] == "time"


def test_while_the_cache_is_away_the_pages_say_to_try_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise RedisError("away")

    monkeypatch.setattr(cache, "get", away)
    with pytest.raises(trials.TrialsAwayError):
        trials.find("x")
    assert trials.find("") is None
    client.force_login(owner())
    for path in ("trials/x/", "trials/x/phases.json", "?trial=x", "upload/?trial=x"):
        answer = client.get(f"{ADDRESS}{path}")
        assert (answer.status_code, answer["Retry-After"]) == (503, "5"), path
        assert "Try again in a moment" in answer.content.decode()
    text(client, ADDRESS)

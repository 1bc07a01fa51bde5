"""A client of a league with TLS, in a container beside it.

It trusts the front's own authority, and has an address of its own, so limits count it alone.
"""

import os
import re
import secrets
import sys
from pathlib import Path

import httpx

from tests import http2
from tests.containers.load import Player

_PASSWORD = "four calling birds"
_NAME = f"viola-{secrets.token_hex(3)}"
_CALL = "/api/v1/ladders"
_SECONDS = 60


def sign_in(url: str) -> None:
    """Sign up and in on the pages, with cookies that are for TLS alone."""
    with httpx.Client(base_url=url, timeout=_SECONDS) as client:
        for action in ("sign-up", "sign-out", "sign-in"):
            page = client.get(
                "/account/sign-in/" if action == "sign-out" else f"/account/{action}/"
            )
            found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
            assert found, page.text[:500]
            form = {"csrfmiddlewaretoken": found[1], "username": _NAME, "password": _PASSWORD}
            names = set(re.findall(r'<input[^>]* name="(password\d?|password_\w+)"', page.text))
            form |= dict.fromkeys(names, _PASSWORD)
            headers = {"Referer": str(page.url), "Origin": url}
            answer = client.post(f"/account/{action}/", data=form, headers=headers)
            # After signing up a page shows the owner token.
            assert answer.status_code == (200 if action == "sign-up" else 302), answer.text[:500]
        cookies = answer.headers.get_list("set-cookie")
        assert any(cookie.startswith("sessionid=") for cookie in cookies), cookies
        assert all("; Secure" in cookie for cookie in cookies), cookies
        assert _NAME in client.get("/account/").text
        # A form of another site is refused.
        headers = {"Referer": "https://elsewhere.example/", "Origin": "https://elsewhere.example"}
        assert client.post("/account/sign-out/", data=form, headers=headers).status_code == 403


def play(url: str) -> None:
    """Make a move by the API, and see its turn in a stream over HTTP/2."""
    player = Player(url, _NAME)
    owner, bot = ({"Authorization": f"Bearer {each}"} for each in (player.owner, player.token))
    with httpx.Client(base_url=f"{url}/api/v1", timeout=_SECONDS) as client:
        # Now the bot is online. A ladder may take minutes until it draws a round for a new bot.
        client.get("/turns", headers=bot).raise_for_status()
        opponents = ["house-random", "house-thumb"]
        challenge = {"bot": _NAME, "opponents": opponents, "game": "twelve-days"}
        answer = client.post("/challenges", json=challenge, headers=owner)
        assert answer.status_code == 201, answer.text
    name = url.removeprefix("https://")
    place = http2.Place((name, 443), name, Path(os.environ["SSL_CERT_FILE"]))
    stream = http2.call(
        place, "GET", "/api/v1/turns/stream", token=player.token, until=b'"legal_moves"'
    )
    assert stream.is_ok
    assert not stream.ends_the_connection
    with httpx.Client(base_url=f"{url}/api/v1", timeout=_SECONDS, headers=bot) as client:
        turns = client.get("/turns?wait=30").raise_for_status().json()["turns"]
        move = {
            "match": turns[0]["match"],
            "turn": turns[0]["turn"],
            "move": turns[0]["observation"]["legal_moves"][0],
        }
        answer = client.post("/moves", json={"moves": [move]}).raise_for_status().json()
        assert "code" not in answer["verdicts"][0], answer


def budget(url: str, forwarded_for: str = "") -> None:
    """Print how many requests the client's address has left."""
    headers = {"X-Forwarded-For": forwarded_for} if forwarded_for else {}
    answer = httpx.get(url + _CALL, headers=headers, timeout=_SECONDS).raise_for_status()
    found = re.search(r";r=(\d+);", answer.headers["RateLimit"])
    assert found
    print(found[1])


if __name__ == "__main__":
    {"sign_in": sign_in, "play": play, "budget": budget}[sys.argv[1]](*sys.argv[2:])

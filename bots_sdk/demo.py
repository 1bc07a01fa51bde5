"""``make demo-bot`` runs a remote bot in a league, as an example.

The program creates an account and a bot, or uses those of its last run. It enters the bot on every
ladder, starts an unrated match against house bots for each, and plays by rules of thumb until
Ctrl-C.
"""

import argparse
import os
import secrets
import sys
from pathlib import Path

from bots_sdk import calls, running
from bots_sdk.answers import Ladder
from bots_sdk.client import Client, Retry
from bots_sdk.errors import LeagueError, ProblemError, UnreachableError
from bots_sdk.nearby import USUAL, running_league
from bots_sdk.reference import thumb_bot
from bots_sdk.saved import Saved, SavedError, SavedLeague

SAVED = Path("var/demo-bot.json")

_SHORT = Retry(seconds=3.0)


def main() -> int:
    """Run the demo bot until Ctrl-C; return the exit status."""
    parser = argparse.ArgumentParser(prog="make demo-bot", description=__doc__)
    parser.add_argument("url", nargs="?", default="")
    parser.add_argument("--saved", type=Path, default=SAVED, help="the file for its tokens")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    options = parser.parse_args()
    url = options.url or os.environ.get("TWELFTH_NIGHT_URL") or running_league()
    if not url:
        print(
            "demo-bot: No league runs in this checkout. Start one with `make up` in another "
            f"terminal, or name a league: `make demo-bot URL={USUAL}`.",
            file=sys.stderr,
        )
        return 3
    output = sys.stderr if options.json else sys.stdout
    try:
        saved = Saved.read(options.saved)
        with Client(url, retry=_SHORT) as anyone:
            url = anyone.url
            ladders = list(anyone.pages(calls.ladders()))
        name, token, owner_token = _bot(saved, url)
        print(f"The bot is {name}: {url}/bots/{name}/", file=output)
        with Client(url, owner_token, retry=_SHORT) as owner:
            for ladder in ladders:
                owner.send(calls.enter_ladder(ladder["slug"], name))
                print(
                    f"On the ladder {ladder['title']}: {url}/ladders/{ladder['slug']}/", file=output
                )
                print(f"  {_start_match(owner, ladder, name)}", file=output, flush=True)
        running.run(Path(thumb_bot.__file__), url, token, name=name, as_json=options.json)
    except UnreachableError as error:
        print(f"demo-bot: {error}; `make up` starts a league.", file=sys.stderr)
        return 3
    except (LeagueError, SavedError, ValueError) as error:
        print(f"demo-bot: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _bot(saved: Saved, url: str) -> tuple[str, str, str]:
    """Return name, token and owner token of the last run's bot if they work, else of a new bot."""
    league = saved.league(url)
    for name, token in league.bots.items():
        try:
            with Client(url, token, retry=_SHORT) as client:
                client.send(calls.turns())
            with Client(url, league.token, retry=_SHORT) as owner:
                owner.send(calls.change_bot(name))
            return name, token, league.token
        except ProblemError as error:
            if error.status not in (401, 403, 404):
                raise  # otherwise this is a new league without that bot
    return _new_bot(saved.path, url)


def _new_bot(path: Path, url: str) -> tuple[str, str, str]:
    """Create an account and a bot, and save them; return the bot's name and both tokens."""
    name = f"demo-{secrets.token_hex(2)}"
    league = SavedLeague(username=name, password=secrets.token_urlsafe(16))
    with Client(url, retry=_SHORT) as client:
        league.token = client.send(calls.create_account(name, league.password))["token"]
    with Client(url, league.token, retry=_SHORT) as client:
        league.bots[name] = client.send(calls.create_bot(name, "remote"))["token"]
        with Saved.changing(path) as saved:
            saved.leagues[url] = league
        client.send(calls.change_bot(name, description="Shows how a remote bot plays."))
    return name, league.bots[name], league.token


def _start_match(owner: Client, ladder: Ladder, name: str) -> str:
    """Start a match like the ladder's; return a line about it."""
    house = [bot["name"] for bot in owner.pages(calls.bots()) if bot["kind"] == "house"]
    opponents = [house[seat % len(house)] for seat in range(ladder["seats"] - 1)] if house else []
    try:
        match = owner.send(calls.create_match(ladder["game"], ladder["rules"], [name, *opponents]))
    except ProblemError as error:
        return f"no match against the house: {error}"
    return f"a match against {', '.join(opponents)}: {owner.url}/matches/{match['id']}/"


if __name__ == "__main__":
    sys.exit(main())

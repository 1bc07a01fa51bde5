"""Response times of a large ladder's standings, API and pages, by the size of the ladder.

Usage: python standings.py [--requests 30] [--sizes 100 1000 10000]

A ladder of N bots has 100 N blocks of four, with their ledger; a tenth of the bots are hidden.
Times are medians over HTTP, from a web server without other clients. The reference is the API's
answer about one ladder from the same server, which reads one row of the database.
"""

import argparse
import time
from pathlib import Path

from benchmarks import serving
from devserver import up

ROUND = 1000
"""Blocks of a round."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=30)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10_000])
    options = parser.parse_args()
    with serving.league() as directory:
        first = 0
        for size in options.sizes:
            began = time.perf_counter()
            fill(size, first)
            first += size
            print(f"{size} bots: filled in {time.perf_counter() - began:.0f} s", flush=True)
        analyze()
        at = directory / "web.sock"
        with serving.running(up.web(at), at, directory / "web.log"):
            report(at, options)


def report(at: Path, options: argparse.Namespace) -> None:
    paths = {
        "one ladder (reference)": "/api/v1/ladders/big-{size}",
        "API, first page": "/api/v1/ladders/big-{size}/standings",
        "API, 200 from the middle": "cursor",
        "page": "/ladders/big-{size}/",
        "page, in the middle": "/ladders/big-{size}/?page={middle}",
        "page, the last hidden": "/ladders/big-{size}/?hidden=1&page=10000",
        "page, a name sought": "/ladders/big-{size}/?q=-{size}",
        "a bot's page": "/bots/bot-{size}/",
        "home": "/",
    }
    print(f"\n{'milliseconds':26}" + "".join(f"{size:>12}" for size in options.sizes) + "  bots")
    for name, path in paths.items():
        row, ratios = "", ""
        for size in options.sizes:
            client = serving.Client(at)
            to = path.format(size=size, middle=size // 100)
            if path == "cursor":
                to = from_the_middle(size)
            taken = median(client, to, options.requests)
            base = median(client, f"/api/v1/ladders/big-{size}", options.requests)
            row += f"{taken:12.1f}"
            ratios += f"{taken / base:8.1f}"
            client.close()
        print(f"{name:26}{row}   times the reference:{ratios}")


def median(client: serving.Client, path: str, count: int) -> float:
    sent = serving.request("GET", path)
    for _ in range(10):  # every thread has imported and connected
        status, body = client.send(sent)
        assert status == 200, (path, status, body[:500])
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        client.send(sent)
        taken.append((time.perf_counter() - began) * 1000)
    return serving.at_share(taken, 0.5)


def from_the_middle(size: int) -> str:
    """Return the path of the API page after the bot in the middle, as a link gives it."""
    import base64
    import json

    from league.models import Ladder
    from league.ratings.standings import standings_in_order

    row = standings_in_order(Ladder.objects.get(slug=f"big-{size}"))[size // 2]
    cursor = json.dumps([0, row.hidden, row.is_provisional, row.rating, row.bot_id]).encode()
    text = base64.urlsafe_b64encode(cursor).decode().rstrip("=")
    return f"/api/v1/ladders/big-{size}/standings?limit=200&cursor={text}"


FILL = """
INSERT INTO auth_user (id, username, password, first_name, last_name, email, is_staff, is_active,
    is_superuser, date_joined)
SELECT %(first)s + i, 'owner-' || %(first)s + i, '', '', '', '', false, true, false, now()
FROM generate_series(1, %(size)s) AS i;

INSERT INTO league_bot (id, name, kind, owner_id, description, paused, challenges_from,
    max_challenges_per_day, created_at)
SELECT %(first)s + i, 'bot-' || CASE WHEN i < %(size)s THEN %(size)s || '-' || i
    ELSE %(size)s::text END, 'remote', %(first)s + i, '', false, 'anyone', 20, now()
FROM generate_series(1, %(size)s) AS i;

INSERT INTO league_botversion (id, bot_id, number, state, note, reason, held, created_at)
SELECT %(first)s + i, %(first)s + i, 1, 'ready', '', '', false, now()
FROM generate_series(1, %(size)s) AS i;

INSERT INTO league_ladder (id, slug, title, game, rules, seats, move_seconds, bank_seconds,
    k_schedule, round_pause_seconds, paused, created_at, max_blocks_per_round, random_percent,
    settled_blocks, idle_days, ranked_from, idle_pause_seconds, revision, alarm, set_aside)
VALUES (%(size)s, 'big-' || %(size)s, 'Big', 'twelve-days', 'calliope', 4, 1, 30, '{}', 20, false,
    now(), 4, 10, 400, 14, 20, 20, 1, '', '');

INSERT INTO league_standing (ladder_id, bot_id, rating, blocks, ranked_from, version, matches,
    pairs, half_wins, points, performance, performance_error, performance_blocks, fitted_version,
    awaits_fit, band, hidden, hidden_at, active_at)
SELECT %(size)s, %(first)s + i, 1500000 + (hashint4(i) %% 400000), CASE WHEN i %% 10 = 0 THEN 5
    ELSE 400 END, 20, 1, 1600, 4800, 4800 + i %% 1000, 16000, 1500 + hashint4(i) %% 400, 20, 400, 1,
    false, 1,
    CASE WHEN i %% 10 = 3 THEN 'idle' ELSE '' END, CASE WHEN i %% 10 = 3 THEN now() END,
    now()
FROM generate_series(1, %(size)s) AS i;

INSERT INTO league_headtohead (ladder_id, bot_id, opponent_id, pairs, half_wins)
SELECT %(size)s, %(first)s + i, %(first)s + 1 + (i + j) %% %(size)s, 48, 48
FROM generate_series(1, %(size)s) AS i, generate_series(1, 98) AS j;

INSERT INTO league_round (id, ladder_id, number, extra, seed, commitment, k_schedule, opened_at,
    applied_at, applied_number, set_aside)
SELECT %(first)s + i, %(size)s, i, 0, '\\x00', '', '{}', now(), now(), i, ''
FROM generate_series(1, %(blocks)s / %(round)s) AS i;

INSERT INTO league_block (id, round_id, number, state, rated, duplicate, void_reason)
SELECT %(first)s * 100 + i + 1, %(first)s + 1 + i / %(round)s, i %% %(round)s, 'finished', true,
    true, ''
FROM generate_series(0, %(blocks)s - 1) AS i;

INSERT INTO league_roundentry (round_id, bot_id, revision, applied_number, rating_before,
    rating_after)
SELECT %(first)s + r, %(first)s + i, 1, r, 1500000, 1500000 + (hashint4(i) %% 400000)
FROM generate_series(1, %(blocks)s / %(round)s) AS r, generate_series(1, %(size)s) AS i
WHERE %(size)s <= 1000 OR i %% 10 = r %% 10;

INSERT INTO league_blockentry (block_id, bot_id, revision, delta)
SELECT %(first)s * 100 + i + 1, %(first)s + 1 + (i * 4 + s) %% %(size)s, 1, 100
FROM generate_series(0, %(blocks)s - 1) AS i, generate_series(0, 3) AS s
"""


def fill(size: int, first: int) -> None:
    """Create a ladder and its bots, with ids above ``first``."""
    from django.db import connection

    values = {"size": size, "first": first, "blocks": size * 100, "round": ROUND}
    with connection.cursor() as cursor:
        cursor.execute(FILL, values)


def analyze() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


if __name__ == "__main__":
    main()

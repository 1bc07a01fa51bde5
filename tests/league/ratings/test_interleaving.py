"""Ladder, placement and tournaments close their rounds in random order: all folds agree."""

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.db.models import QuerySet

from engine.pairing import Table
from league import bots, competitions, play, ratings
from league.models import Block, Bot, BotVersion, Ladder, Match, Round
from league.ratings.exporting import export_ladder
from league.ratings.ledger import round_entries
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = finders.find("web/recompute_ladder.py") or ""
PLACED = 2
"""Blocks of a placement."""
_LIMIT = 2000


class _League:
    """A ladder with many events, whose matches are played in a random order.

    The first round is held back, so that the order of application is never that of the draws.
    """

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.ladder = small.ladder()
        small.rank_from(self.ladder, PLACED)
        self.house = small.bots(4)
        for bot in self.house:
            competitions.enter_ladder(ladder=self.ladder, bot=bot)
        self.held = self.open_own()
        for style, rounds in (("round-robin", None), ("swiss", 2)):
            small.tournament(self.ladder, format=style, swiss_rounds=rounds, blocks_per_table=1)
        self.events = [self.open_own, self.open_own, self.enter, self.enter, self.promote]
        self.events += [self.void, self.void, self.correct]
        self.rng.shuffle(self.events)

    def open_own(self) -> Round:
        """Open a round of the ladder's own: one or two tables."""
        tables = [
            Table(tuple(sorted(self.rng.sample([bot.pk for bot in self.house], 3))), True)
            for _ in range(self.rng.randint(1, 2))
        ]
        seed = bytes([self.ladder.rounds.count()]) * 32
        return competitions.open_round(ladder=self.ladder, tables=tables, seed=seed)

    def enter(self) -> None:
        """Enter a new bot, and draw its placement."""
        name = f"owner-{Bot.objects.count()}"
        [bot] = small.bots(1, owner=User.objects.create(username=name), prefix=name)
        competitions.enter_ladder(ladder=self.ladder, bot=bot)
        assert len(competitions.open_placements(self.ladder.pk)) == 1

    def promote(self) -> None:
        """Make a new version of a bot current; matches that are drawn go on with the old one."""
        bot = self.rng.choice(self.house)
        bots.promote(BotVersion.objects.create(bot=bot, number=bot.versions.count() + 1))

    def void(self) -> None:
        """Mark a block void, finished or not."""
        blocks = Block.objects.exclude(state=Block.State.VOID).exclude(round=self.held)
        block = self.rng.choice(list(blocks.filter(rated=True).order_by("pk")))
        ratings.mark_void(block_id=block.pk, reason="a power cut")

    def correct(self) -> None:
        """Fold the ladder anew in the middle of everything."""
        ratings.correct(self.ladder.pk, reason="a repair")

    def play(self) -> None:
        """Play and apply until nothing is left, in a random order."""
        for _ in range(_LIMIT):
            for tournament_id in competitions.tournaments_to_advance():
                competitions.advance_tournament(tournament_id)
            if self.events and self.rng.random() < 0.1:
                self.events.pop()()
            waiting = list(self.matches().exclude(block__round=self.held).order_by("pk"))
            if not waiting and not self.events:
                waiting = list(self.matches())
            for match in self.rng.sample(waiting, min(len(waiting), 3)):
                play.play_match(match.pk, players=small.players)
            due = ratings.rounds_to_apply()
            self.rng.shuffle(due)
            # A worker may be late, or come twice.
            for round_id in due[: self.rng.randint(0, len(due))]:
                assert ratings.apply_round(round_id)
                assert not ratings.apply_round(round_id)
            if not waiting and not due and not self.events:
                return
        raise AssertionError("the events do not come to an end")

    def matches(self) -> QuerySet[Match]:
        """Return the matches of rounds that wait to be played."""
        return Match.objects.filter(block__isnull=False, status=Match.Status.WAITING)


def of_export(data: bytes) -> dict[str, tuple[int, int, int]]:
    """Return rating, blocks and version by the bot's name, as the export states them."""
    lines = [json.loads(line) for line in data.splitlines()]
    return {
        line["bot"]: (line["rating"], line["blocks"], line["version"])
        for line in lines
        if line["type"] == "standing"
    }


def stored(ladder: Ladder) -> dict[str, tuple[int, int, int]]:
    rows = ladder.standings.values_list("bot__name", "rating", "blocks", "version")
    return {name: (rating, blocks, version) for name, rating, blocks, version in rows}


@pytest.mark.parametrize("seed", range(3))
def test_all_folds_agree_in_whatever_order_the_events_close_their_rounds(
    seed: int, tmp_path: Path
) -> None:
    league = _League(seed)
    league.play()
    ladder = league.ladder
    ratings.correct(ladder.pk)  # if a mark is left
    ladder.refresh_from_db()
    in_order = list(ladder.rounds.order_by("applied_number"))
    assert [each.applied_number for each in in_order] == list(range(1, len(in_order) + 1))
    assert in_order[0].number > 1
    kinds = {(bool(each.placed_id), bool(each.tournament_id)) for each in in_order}
    assert kinds == {(False, False), (True, False), (False, True)}

    assert ratings.recompute(ladder) == []
    assert sum(rating for rating, *_ in stored(ladder).values()) == 1_500_000 * len(stored(ladder))
    chains: dict[int, int] = {}
    for row in round_entries(ladder).order_by("applied_number"):
        assert chains.get(row.bot_id, 1_500_000) == row.rating_before
        chains[row.bot_id] = row.rating_after
    assert chains == dict(ladder.standings.values_list("bot", "rating"))

    assert ladder.revision > 1
    data = b"".join(export_ladder(ladder))
    assert of_export(data) == stored(ladder)
    (tmp_path / "ladder.jsonl").write_bytes(data)
    run = [sys.executable, SCRIPT, str(tmp_path / "ladder.jsonl")]
    result = subprocess.run(run, capture_output=True, text=True, check=False)
    assert result.stdout.startswith(f"Right: {ladder.standings.count()} bots"), result.stdout

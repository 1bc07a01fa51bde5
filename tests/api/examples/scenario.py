"""A league in which each call of the API succeeds once, in an order that a reader can follow."""

import hashlib
import secrets
import sys
from collections import Counter
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from engine.deals import SEED_BYTES
from league import accounts, analyses, bots, competitions, play, ratings
from league.models import Block, Bot, BotVersion, Ladder, Match, QualifyingMatch
from tests.api.examples.recorder import Recorder
from tests.league import small

PASSWORD = "four calling birds"
LADDER, CUP = "twelve-days", "12 Days, Sunday cup"
HOUSE = ("house-thumb", "house-random", "house-careful")
FIRST_MOVE = 'def choose(observation):\n    return observation["legal_moves"][0]\n'
LAST_MOVE = FIRST_MOVE.replace("[0]", "[-1]")
NEXT_YEAR = timezone.now().year + 1
"""The league refuses times more than two years ahead."""
EXPIRES, STARTS = f"{NEXT_YEAR}-12-24T18:00:00Z", f"{NEXT_YEAR}-12-25T18:00:00Z"


def fix_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the league draw the same seeds in each run; tokens stay random.

    Each module has its own sequence, so a new call changes few examples of others.
    """
    drawn: Counter[str] = Counter()
    token_bytes = secrets.token_bytes

    def fixed(nbytes: int | None = None) -> bytes:
        module = sys._getframe(1).f_globals["__name__"]
        if not module.startswith("league.") or nbytes != SEED_BYTES:
            return token_bytes(nbytes)
        drawn[module] += 1
        return hashlib.sha256(f"{module} {drawn[module]}".encode()).digest()

    monkeypatch.setattr(secrets, "token_bytes", fixed)
    monkeypatch.setattr("league.ratings.performance.ERROR_FROM", 1)


def record_all(recorder: Recorder) -> None:
    """Make every call once or more."""
    ladder = _set_up(recorder)
    _accounts(recorder)
    _remote_bots(recorder)
    _match(recorder)
    _hosted_bot(recorder)
    _challenge(recorder)
    _ladder(recorder, ladder)
    _blocks(recorder)
    _comparisons(recorder)
    _tournaments(recorder, ladder)
    _played_tournament(recorder, ladder)
    _quarantines(recorder)
    _ends(recorder)


def _set_up(recorder: Recorder) -> Ladder:
    """Create what an operator sets up: a ladder, house bots, an organiser."""
    ladder = Ladder.objects.create(
        slug=LADDER, title="12 Days", game="twelve-days", rules="calliope", seats=4
    )
    for name in HOUSE:
        bot = Bot.objects.create(name=name, kind=Bot.Kind.HOUSE)
        bot.current = BotVersion.objects.create(bot=bot, number=1, note="as shipped")
        bot.save()
        competitions.enter_ladder(ladder=ladder, bot=bot)
    ladder.anchor = Bot.objects.get(name=HOUSE[0])
    ladder.save()
    organiser, token = accounts.create_account(username="olivia", password=PASSWORD)
    organiser.groups.add(Group.objects.get_or_create(name=accounts.ORGANISERS)[0])
    recorder.tokens["organiser"] = token
    accounts.create_account(username="toby", password=PASSWORD)
    return ladder


def _accounts(recorder: Recorder) -> None:
    call = recorder.call
    signed_up = call("accounts_create", body={"username": "grace", "password": PASSWORD})
    recorder.tokens["owner"] = signed_up["token"]
    laptop = {
        "username": "grace",
        "password": PASSWORD,
        "name": "laptop",
        "scopes": ["manage", "read"],
        "expires_at": EXPIRES,
    }
    token = call("tokens_create", body=laptop)
    call("tokens_list", "owner", query={"limit": 2})
    call("tokens_show", "owner", token_id=token["id"])
    call("tokens_current", "owner")
    call("tokens_delete", "owner", token_id=token["id"])


def _remote_bots(recorder: Recorder) -> None:
    call = recorder.call
    call("games_list")
    for name in ("swan", "robin"):
        made = call("bots_create", "owner", body={"name": name, "kind": "remote"})
        recorder.tokens["bot"] = recorder.tokens[name] = made["token"]
    call("bots_list", query={"limit": 2})
    call("bots_show", name="swan")
    call("bots_change", "owner", name="swan", body={"description": "Gives its lowest card."})
    recorder.tokens["bot"] = call("bots_new_token", "owner", name="swan")["token"]
    call("ladders_list", query={"limit": 2})
    call("ladders_show", slug=LADDER)
    call("ladders_enter", "bot", slug=LADDER, name="swan")
    call("ladders_entry", slug=LADDER, name="swan")


def _match(recorder: Recorder) -> None:
    """Play an unrated match of two remote bots and a house bot."""
    call = recorder.call
    table = {"game": "twelve-days", "rules": "calliope", "bots": ["swan", "robin", HOUSE[0]]}
    match_id = call("matches_create", "owner", body=table)["id"]
    play.open_live(match_id)
    turns = call("turns_list", "bot", query={"wait": 25})["turns"]
    call("turns_stream", "bot")
    answer = {"turn": turns[0]["turn"], "move": turns[0]["observation"]["legal_moves"][0]}
    call("matches_move", "bot", match_id=match_id, body=answer)
    swan, robin = Bot.objects.get(name="swan"), Bot.objects.get(name="robin")
    _play(match_id, [robin])
    [turn] = play.open_turns(swan, timezone.now())
    move = {"match": match_id, "turn": 1, "move": turn["observation"]["legal_moves"][0]}
    call("moves_create", "bot", body={"moves": [move]})
    call("matches_events", match_id=match_id)
    call("matches_events_of_several", query={"match": match_id})
    _play(match_id, [swan, robin])
    call("matches_list", query={"bot": "swan", "status": "finished"})
    call("matches_show", match_id=match_id)
    call("matches_record", match_id=match_id)
    call("matches_log", "owner", match_id=match_id)
    call("matches_analyse", "owner", match_id=match_id)
    analyses.compute(match_id, seconds=600, playouts=8)
    call("matches_analysis", match_id=match_id)
    call("ladders_leave", "bot", slug=LADDER, name="swan")


def _play(match_id: int, remote: list[Bot]) -> None:
    """Play the turns of house bots and of some remote bots until none is open."""
    while True:
        play.play_house_turns(match_id, player=lambda seat: small.players([seat])[0])
        moved = 0
        for bot in remote:
            for turn in play.open_turns(bot, timezone.now()):
                text = turn["observation"]["legal_moves"][-1]
                play.submit(bot, play.Move(match_id, turn["turn"], text), timezone.now())
                moved += 1
        if not moved:
            return


def _hosted_bot(recorder: Recorder) -> None:
    call = recorder.call
    call("bots_create", "owner", body={"name": "goose", "kind": "hosted"})
    for source, note in ((FIRST_MOVE, "first legal move"), (LAST_MOVE, "last legal move")):
        form = {"source": source, "note": note}
        number = call("versions_upload", "owner", name="goose", form=form)["number"]
        version = BotVersion.objects.get(bot__name="goose", number=number)
        for game in ("twelve-days", "partridge"):
            QualifyingMatch.objects.create(version=version, game=game, passed=True)
        BotVersion.objects.filter(pk=version.pk).update(state="ready")
        bots.promote(BotVersion.objects.get(pk=version.pk))
    call("versions_list", "owner", name="goose")
    call("versions_show", "owner", name="goose", number=1)
    call("versions_log", "owner", name="goose", number=1)
    call("versions_source", "owner", name="goose", number=1)
    call("versions_promote", "owner", name="goose", number=1)
    call("ladders_enter", "owner", slug=LADDER, name="goose")


def _challenge(recorder: Recorder) -> None:
    call = recorder.call
    table = {"bot": "goose", "opponents": list(HOUSE[:2]), "game": "twelve-days"}
    number = call("challenges_create", "owner", body=table)["id"]
    small.play_due()
    call("challenges_list", query={"bot": "goose", "limit": 2})
    call("challenges_show", challenge_id=number)


def _ladder(recorder: Recorder, ladder: Ladder) -> None:
    """Play two rounds of a ladder, then read all about it."""
    call = recorder.call
    for _ in range(2):
        competitions.open_ladder_round(ladder.pk)
        small.run_all()
        for round_id in ratings.take_fits():
            ratings.fit_round(round_id)
    call("ladders_standings", slug=LADDER, query={"limit": 2})
    call("bots_standing", slug=LADDER, name="goose")
    call("bots_performance_history", slug=LADDER, name="goose", query={"limit": 2})
    call("ladders_cross_table", slug=LADDER, query={"bot": "goose"})
    call("ladders_rounds", slug=LADDER, query={"limit": 2})
    call("ladders_ledger", slug=LADDER, query={"bot": "goose", "limit": 2})
    call("ladders_export", slug=LADDER)
    call("ladders_fair_play", "organiser", slug=LADDER)
    call("bots_records", name="goose")


def _blocks(recorder: Recorder) -> None:
    """Make a block void, have it played again, and restore another."""
    call = recorder.call
    block = Block.objects.filter(state="finished", round__tournament=None).earliest("pk")
    number = block.round.number
    one: dict[str, Any] = {"slug": LADDER, "round_number": number, "block_number": block.number}
    call("blocks_list", slug=LADDER, round_number=number, query={"limit": 2})
    call("blocks_show", **one)
    seen = call("blocks_preview_void", "organiser", **one)["seen"]
    reason = "The sandbox failed."
    call("blocks_void", "organiser", **one, body={"reason": reason, "seen": seen})
    call("blocks_restore", "organiser", **one, query={"reason": "Mistake"})
    call("blocks_void", "organiser", **one, body={"reason": reason})
    seen = call("blocks_preview_replay", "organiser", **one)["seen"]
    call("blocks_replay", "organiser", **one, body={"reason": reason, "seen": seen})
    small.run_all()
    for pk in ratings.ladders_to_correct():
        ratings.correct(pk)
    call("ladders_revisions", slug=LADDER)


def _comparisons(recorder: Recorder) -> None:
    call = recorder.call
    test = {"ladder": LADDER, "new": 2, "old": 1, "promote": True}
    number = call("comparisons_create", "owner", name="goose", body=test)["id"]
    call("comparisons_list", name="goose")
    call("comparisons_show", comparison_id=number)
    call("comparisons_cancel", "owner", comparison_id=number)


def _tournaments(recorder: Recorder, ladder: Ladder) -> None:
    call = recorder.call
    new = {
        "title": CUP,
        "ladder": LADDER,
        "format": "swiss",
        "swiss_rounds": 5,
        "starts_at": STARTS,
    }
    number = call("tournaments_create", "organiser", body=new)["id"]
    competitions.advance_tournament(number)
    call("tournaments_list", query={"limit": 2})
    call("tournaments_show", tournament_id=number)
    call("tournaments_change", "organiser", tournament_id=number, body={"late_entry": True})
    call("tournaments_enter", "bot", tournament_id=number, name="swan")
    call("tournaments_enter", "owner", tournament_id=number, name="goose")
    call("tournaments_entries", tournament_id=number, query={"limit": 2})
    call("tournaments_withdraw", "bot", tournament_id=number, name="swan")
    goose: dict[str, Any] = {"tournament_id": number, "name": "goose"}
    seen = call("tournaments_preview_disqualification", "organiser", **goose)["seen"]
    decision = {"reason": "Two accounts of one person.", "seen": seen}
    call("tournaments_disqualify", "organiser", **goose, body=decision)
    call("tournaments_reinstate", "organiser", **goose, query={"reason": "Mistake"})
    seen = call("tournaments_preview_cancel", "organiser", tournament_id=number)["seen"]
    decision = {"reason": "The lab is closed.", "seen": seen}
    call("tournaments_cancel", "organiser", tournament_id=number, body=decision)
    call("tournaments_restore", "organiser", tournament_id=number, query={"starts_at": STARTS})
    call("tournaments_cancel", "organiser", tournament_id=number, body={})


def _played_tournament(recorder: Recorder, ladder: Ladder) -> None:
    """Play a knockout, then read all about it."""
    call = recorder.call
    number = small.tournament(ladder, format="knockout").pk
    competitions.advance_tournament(number)
    small.run_all()
    assert Match.objects.filter(block__round__tournament=number, status="finished").exists()
    for name in ("standings", "rounds", "cross_table", "bracket", "export"):
        call(f"tournaments_{name}", tournament_id=number)


def _quarantines(recorder: Recorder) -> None:
    call = recorder.call
    reason = {"reason": "It floods the league.", "ends_at": EXPIRES}
    call("bots_quarantine", "organiser", name="swan", body=reason)
    call("bots_quarantine_show", "owner", name="swan")
    call("accounts_quarantine", "organiser", username="toby", body=reason)
    call("accounts_quarantine_show", "organiser", username="toby")
    call("quarantines_list", "organiser", query={"limit": 2})
    call("bots_lift_quarantine", "organiser", name="swan", query={"reason": "Mended"})
    call("accounts_lift_quarantine", "organiser", username="toby", query={"reason": "Mended"})
    call("moderation_log_list", "organiser", query={"limit": 2})
    call("moderation_log_export", "organiser")


def _ends(recorder: Recorder) -> None:
    call = recorder.call
    note = {"note": "gives its last card"}
    call("versions_change", "owner", name="goose", number=2, body=note)
    goose = Bot.objects.get(name="goose")
    withdrawn = bots.upload(bot=goose, data=FIRST_MOVE.encode()).number
    call("versions_withdraw", "owner", name="goose", number=withdrawn)
    change = {"username": "grace", "password": PASSWORD, "new_password": "five gold rings"}
    call("accounts_password", body=change)
    call("bots_delete", "owner", name="swan")
    call("tokens_revoke", "owner")

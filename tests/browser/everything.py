"""A league with something for every page to show, and the paths of all pages."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from engine.record import write
from league import analyses, bots, competitions, feeds, play
from league.accounts import password_changes
from league.bots import trials
from league.models import (
    Bot,
    BotVersion,
    Challenge,
    Comparison,
    Ladder,
    Match,
    PlayerTable,
    Tournament,
)
from tests.browser.conftest import play_league
from tests.league import small
from tests.league.bots.uploaded import FIRST
from tests.league.play.live import match_of, remote_bots
from tests.league.players import house_bots

_GAME = {"game": "twelve-days eight-nights", "seats": "3", "level": "easy"}
_TRIAL = "a-trial"


def play_everything() -> Tournament:
    """Play a league with one of each thing that has a page; return its first tournament.

    Ada owns a bot and organises. She sits at three tables: in play, over, and waiting for players.
    """
    league = play_league()
    ada = User.objects.get(username="ada")
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    own = Bot.objects.get(owner=ada)
    match = Match.objects.filter(block__round__tournament=league).earliest("pk")
    analyses.ask(match=match)
    analyses.compute(match.pk, seconds=600, playouts=8)
    held = bots.upload(bot=own, data=FIRST, held=True)
    BotVersion.objects.filter(pk=held.pk).update(state=BotVersion.State.READY)
    competitions.challenge(owner=ada, bot=own.name, opponents=["bot-0", "bot-1"])
    ladder = Ladder.objects.get(slug="quick")
    for bot in Bot.objects.filter(name__startswith="bot-"):
        competitions.enter_ladder(ladder=ladder, bot=bot)
    feeds.find_highlights(timezone.now().date())
    comparison = competitions.compare(bot=own, ladder=ladder, new=2, old=1)
    competitions.advance_comparison(comparison.pk)
    small.play_due()
    competitions.advance_comparison(comparison.pk)
    competitions.announce_tournament(
        title="The next tournament", ladder=ladder, starts_at=timezone.now() + timedelta(days=400)
    )
    match_of(remote_bots(3))
    house_bots()
    client = Client()
    client.force_login(ada)
    for how in ({"no_clock": "on"}, {"no_clock": "on"}, {"waits": "on"}):
        assert client.post("/play/", _GAME | how).status_code == 302
    play_to_its_end(PlayerTable.objects.earliest("pk"))
    return league


def play_to_its_end(table: PlayerTable) -> None:
    """Play a person's match: always the first legal move."""
    match = Match.objects.get(table=table)
    [seat] = match.seating.filter(bot__kind=Bot.Kind.PLAYER)
    while True:
        play.play_house_turns(match.pk)
        now = timezone.now()
        turns = play.open_turns(seat.bot, now)
        if not turns:
            break
        [turn] = turns
        move = turn["observation"]["legal_moves"][0]
        play.submit(seat.bot, play.Move(match.pk, turn["turn"], move), now)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED


def keep_trial() -> None:
    """Store a trial that is over, as the cache may have lost it: a match with a fault."""
    record = Match.objects.finished().filter(game="twelve-days").earliest("pk").record
    result = {
        "matches": [{"seat": 0, "scores": [9, 5, 3], "places": [1, 2, 3]}],
        "blocks": 1,
        "share": 0.6,
        "interval": [None, None],
        "stopped": "faults",
        "faults": [
            {
                "kind": "illegal",
                "reason": "The move is not legal.",
                "phase": "give",
                "hand": [1, 2, 3],
                "legal_moves": ["give 1", "give 2", "give 3"],
            }
        ],
        "record": write(record),
        "names": ["your-bot", "house-thumb", "house-counting"],
        "printed": "a line\n",
    }
    kept = trials.Trial(_TRIAL, "twelve-days", FIRST.decode(), "done", 0.0, "x", result)
    cache.set(trials._key(_TRIAL), kept._asdict(), timeout=600)


def paths(league: Tournament) -> list[str]:
    """Return the paths of all pages of `play_everything`."""
    own = Bot.objects.get(owner__username="ada")
    cup = Tournament.objects.get(format=Tournament.Format.KNOCKOUT)
    coming = Tournament.objects.get(title="The next tournament")
    robin_match = Match.objects.filter(block__round__tournament=league).earliest("pk")
    cup_match = Match.objects.filter(block__round__tournament=cup).earliest("pk")
    live_match = Match.objects.get(live=True, table=None, status=Match.Status.PLAYING)
    return [
        "/",
        "/tv/",
        "/bots/",
        "/bots/?q=bot",
        "/matches/",
        "/search/?q=bot",
        "/ladders/",
        "/feed/",
        "/bots/bot-0/against/bot-1/",
        "/ladders/quick/",
        "/ladders/quick/?view=statistics",
        "/ladders/quick/luck/",
        "/ladders/quick/fair-play/",
        "/ladders/eagles/rounds/1/",
        "/bots/bot-0/",
        "/bots/bot-0/matches/",
        "/bots/bot-0/versions/",
        "/bots/bot-0/statistics/",
        "/bots/bot-0/against/",
        f"/bots/bot-0/against/{own.name}/",
        f"/bots/{own.name}/",
        f"/bots/{own.name}/manage/",
        f"/bots/{own.name}/challenge/",
        f"/challenges/{Challenge.objects.get().pk}/",
        f"/comparisons/{Comparison.objects.get().pk}/",
        "/events/",
        "/play/",
        *(f"/play/{table.code}/" for table in PlayerTable.objects.order_by("pk")),
        "/learn/",
        "/learn/twelve-days/",
        "/learn/partridge/",
        "/learn/write-a-bot/",
        f"/learn/write-a-bot/trials/{_TRIAL}/",
        f"/learn/write-a-bot/upload/?trial={_TRIAL}",
        "/organise/tournaments/new/",
        f"/organise/tournaments/{coming.pk}/change/",
        f"/tournaments/{league.pk}/",
        f"/tournaments/{cup.pk}/",
        f"/tournaments/{coming.pk}/",
        f"/matches/{robin_match.pk}/",
        f"/matches/{cup_match.pk}/?step=4",
        f"/matches/{cup_match.pk}/analysis/",
        f"/matches/{robin_match.pk}/analysis/?decisions=all",
        f"/matches/{live_match.pk}/",
        "/account/",
        "/account/tokens/",
        "/account/password/",
        f"/account/bots/{own.name}/upload/",
        f"/account/bots/{own.name}/versions/1/",
        f"/account/bots/{own.name}/compare/",
        f"/account/bots/{own.name}/settings/",
        f"/account/bots/{own.name}/delete/",
        "/account/sign-up/",
        "/docs/",
        "/docs/?q=block",
        "/docs/rules/twelve-days/",
        "/organise/",
        "/organise/log/",
        "/organise/operations/",
        f"/organise/operations/matches/{live_match.pk}/",
        f"/organise/operations/matches/{cup_match.pk}/",
        f"/organise/bots/{own.name}/",
        "/organise/accounts/ada/",
        f"/organise/tournaments/{cup.pk}/",
        f"/organise/tournaments/{cup.pk}/bots/bot-0/",
        "/organise/ladders/quick/rounds/1/blocks/0/",
    ]


def paths_without_account(league: Tournament) -> list[str]:
    """Return the paths of pages that only people without a session see, or see differently."""
    uid, token = password_changes.new_reset(User.objects.get(username="ada"))
    match = Match.objects.filter(block__round__tournament=league).earliest("pk")
    return [
        "/",
        "/account/sign-in/",
        "/account/sign-up/",
        f"/account/reset/{uid}/{token}/",
        f"/matches/{match.pk}/",
        f"/embed/matches/{match.pk}/",
        "/embed/ladders/quick/",
        f"/embed/tournaments/{league.pk}/",
    ]

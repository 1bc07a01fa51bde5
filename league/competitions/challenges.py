"""Challenges: an owner's bot plays one unrated block against bots that the owner names, at once.

A challenge uses the game, preset and time control of a ladder, if one fits its bots. Limits keep
owners apart: `MAX_OPEN` and ``settings.MAX_CHALLENGES_PER_DAY`` for the owner who starts it, and
the settings of each challenged bot.
"""

import math
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import NamedTuple

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from engine.blocks import plan_block
from engine.deals import SEED_BYTES
from engine.errors import UnknownRulesError
from engine.games import catalogue
from engine.games.titles import GAME_TITLES
from engine.rating.intervals import wilson
from engine.rating.results import MatchResult, pair_results, win_shares
from league import bots, play
from league.bots.daily_limits import count_challenge, rounded_up
from league.models import Bot, Challenge, ChallengeBot, Ladder, Match, PlayerTable
from league.play.opening import DEFAULT_BANK_SECONDS, DEFAULT_MOVE_SECONDS
from league.queueing import queue_once

MAX_OPEN = 3
"""Unfinished challenges of one owner."""
_DAY = timedelta(hours=24)
State = Challenge.State


class Setting(NamedTuple):
    """What a challenge plays: a game, a preset and the time control."""

    game: str
    rules: str
    move_seconds: float = DEFAULT_MOVE_SECONDS
    bank_seconds: float = DEFAULT_BANK_SECONDS


class PairResult(NamedTuple):
    """A bot's result against one opponent in the finished matches of a challenge.

    Attributes:
        opponent: its name.
        share: the mean pair result, from 0 to 1.
        low: the lower end of its 95 % interval.
        high: the upper end.
    """

    opponent: str
    share: float
    low: float
    high: float


class Result(NamedTuple):
    """The result of a challenge so far.

    Attributes:
        state: waiting, playing, finished or void.
        matches: by number.
        finished: the number of finished matches.
        win_share: the mean pair result of the bot that challenges; None before it may be seen.
        pairs: its result against each opponent; empty before it may be seen.
    """

    state: State
    matches: list[Match]
    finished: int
    win_share: float | None
    pairs: list[PairResult]


def challenge(
    *, owner: User, bot: str, opponents: Sequence[str], game: str = "", rules: str = ""
) -> Challenge:
    """Start a challenge: store its matches, which are played ahead of rated ones.

    Args:
        owner: who starts it.
        bot: name of a bot of the owner.
        opponents: names of the other bots.
        game: slug of the game; empty: of the ladder that fits best (`_setting`).
        rules: name of the preset; empty: of that ladder.

    Raises:
        ValidationError: by field: a bot does not exist or is named twice, there is no such game or
            preset, or the preset does not take so many bots. Or with a code: the bot is another
            owner's (``not-your-bot``); a bot is paused (``bot-paused``), offline
            (``bot-offline``), in quarantine (``quarantined``), has no version that can play
            (``no-version``) or did not qualify for the game (``not-qualified``); an opponent takes
            no challenges (``challenges-refused``); the owner has too many open
            (``too-many-matches``); or the owner or an opponent has had too many in 24 hours
            (``too-many-challenges``).
    """
    names = [bot, *opponents]
    found = _find(names)
    own = found[0]
    if own.owner_id != owner.pk:
        raise ValidationError(
            f"{own} belongs to another account; challenge with one of your bots.",
            code="not-your-bot",
        )
    now = timezone.now()
    for each in found:
        _require_playable(each, owner)
    setting = _setting(found, game, rules)
    versions = {each.pk: version for each in found if (version := each.current_version())}
    for each in found:
        require_qualified_for(owner, each, setting.game)
    with transaction.atomic():
        # Under these locks two challenges at once don't both take the last place of a day, and no
        # bot is deleted, paused or given another version.
        fresh = {each.pk: each for each in Bot.objects.locked().filter(pk__in=versions)}
        for each in found:
            if each.pk not in fresh or fresh[each.pk].current_id != each.current_id:
                raise ValidationError(
                    f"{each} has just been deleted or got another version. Try again.",
                    code="changed-meanwhile",
                )
            _require_playable(fresh[each.pk], owner)
            if each.owner_id not in (None, owner.pk):
                _require_accepted(fresh[each.pk], now)
        count_challenge(owner, now)  # which locks the owner's account
        if Challenge.objects.unfinished().filter(bot__owner=owner).count() >= MAX_OPEN:
            raise ValidationError(
                f"You have {MAX_OPEN} unfinished challenges, the maximum. Wait until one is over.",
                code="too-many-matches",
            )
        made = Challenge.objects.create(
            bot=own,
            game=setting.game,
            rules=setting.rules,
            duplicate=all(each.kind != Bot.Kind.REMOTE for each in found),
        )
        ChallengeBot.objects.bulk_create(
            ChallengeBot(challenge=made, bot=each, version=versions[each.pk]) for each in found
        )
        plan = plan_block(secrets.token_bytes(SEED_BYTES), list(versions), duplicate=made.duplicate)
        play.open_challenge_matches(
            challenge=made,
            plan=plan,
            versions=versions,
            move_seconds=setting.move_seconds,
            bank_seconds=setting.bank_seconds,
        )
        transaction.on_commit(lambda: queue_once("follow_up"))
    return made


def result(challenge: Challenge) -> Result:
    """Return how far a challenge is, and its results once its deal is no secret."""
    matches = list(
        challenge.matches.order_by("number")
        .defer("packed_record")
        .with_deals()
        .prefetch_related("seating__bot", "seating__version")
    )
    state = Challenge.state_of(matches)
    finished = [match for match in matches if match.status == Match.Status.FINISHED]
    shown = finished if state == State.FINISHED or not challenge.duplicate else []
    if state == State.VOID:
        shown = []
    played = [
        MatchResult(
            tuple(seat.bot_id for seat in seating), tuple(seat.place or 0 for seat in seating)
        )
        for match in shown
        if (seating := sorted(match.seating.all(), key=lambda seat: seat.seat))
    ]
    share, pairs = None, []
    if played:
        by_pair = pair_results(played)
        share = float(win_shares(by_pair)[challenge.bot_id])
        for other in challenge.bots.select_related("bot").exclude(bot=challenge.bot_id):
            mean = float(by_pair[challenge.bot_id, other.bot_id])
            pairs.append(PairResult(other.bot.name, mean, *wilson(mean, len(played))))
    return Result(state, matches, len(finished), share, pairs)


def challengeable(bot: Bot) -> str:
    """Return why nobody but its owner can challenge a bot now; "" if everybody can."""
    try:
        _require_playable(bot, None)
        if bot.owner_id is not None:
            _require_accepted(bot, timezone.now())
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


def _find(names: Sequence[str]) -> list[Bot]:
    """Return the bots with these names, in this order."""
    by_name = {
        bot.name: bot
        for bot in Bot.objects.active().filter(name__in=names).select_related("current", "owner")
    }
    for number, name in enumerate(names):
        field = "opponents" if number else "bot"
        if name not in by_name:
            raise ValidationError({field: bots.why_unknown(name)})
        if name in names[:number]:
            raise ValidationError({field: f"{name} is named twice; each bot has one seat."})
    return [by_name[name] for name in names]


_REFUSALS = {
    bots.Obstacle.RETIRED: "was deleted; choose another bot.",
    bots.Obstacle.QUARANTINED: "is in quarantine and gets no matches; choose another bot.",
    bots.Obstacle.PAUSED: "is paused. Its owner can resume it; choose another bot until then.",
    bots.Obstacle.NO_VERSION: "has no version that can play yet. Its owner must upload one first.",
    bots.Obstacle.OFFLINE: "is offline: it asked for no turns in the last 60 s. Its owner must "
    "start its program (`twelfth-night run`).",
}
"""What a person reads about another owner's bot. Only the owner learns the quarantine's reason."""


def _require_playable(bot: Bot, owner: User | None) -> None:
    """Raise unless a bot could play now."""
    if owner is not None and bot.owner_id == owner.pk:
        bots.require_playable(bot)
    elif (obstacle := next(bots.obstacles(bot), None)) is not None:
        raise ValidationError(f"{bot} {_REFUSALS[obstacle]}", code=obstacle)


def require_qualified_for(user: User, bot: Bot, game: str) -> None:
    """Raise unless a bot qualified for a game. A user who does not own it never learns why not.

    Raises:
        ValidationError: it did not (code ``not-qualified``).
    """
    try:
        bots.require_qualified(bot, game)
    except ValidationError:
        if bot.owner_id == user.pk:
            raise
        raise ValidationError(
            f"{bot} does not play {GAME_TITLES[game]}; choose another bot.", code="not-qualified"
        ) from None


def _require_accepted(bot: Bot, now: datetime) -> None:
    """Raise unless another owner's bot takes a challenge now."""
    if bot.challenges_from == Bot.Challengers.NOBODY:
        raise ValidationError(
            f"{bot} takes no challenges: its owner has switched them off. Choose another bot.",
            code="challenges-refused",
        )
    since, most = now - _DAY, bot.max_challenges_per_day
    challenges = Challenge.objects.filter(bots__bot=bot).exclude(bot__owner=bot.owner_id)
    # A table in the browser counts as a challenge of the bots that it names.
    tables = PlayerTable.objects.filter(bots__contains=[bot.name])
    tables = tables.exclude(players__user=bot.owner_id)
    found = [
        of.filter(created_at__gt=since).order_by("-created_at").values_list("created_at", flat=True)
        for of in (challenges, tables)
    ]
    times = sorted(chain(*(each[:most] for each in found)), reverse=True)[:most]
    if len(times) == most:
        seconds = max(1, math.ceil((times[-1] + _DAY - now).total_seconds()))
        raise ValidationError(
            "%(bot)s has had %(count)s challenges in 24 hours, as many as its owner allows. Try "
            "again in %(wait)s, or choose another bot.",
            code="too-many-challenges",
            params={
                "bot": bot.name,
                "count": len(times),
                "wait": rounded_up(seconds),
                "retry_seconds": seconds,
            },
        )


def _setting(found: Sequence[Bot], game: str, rules: str) -> Setting:
    """Return the game, preset and time control of a challenge.

    Of the ladders with this game and preset that take so many bots, the best one decides: first
    those that the bot is on, and of these first those with so many seats.
    """
    own, seats = found[0], len(found)
    if rules and not game:
        raise ValidationError({"game": "Give `game` too: the game of this preset."})
    ladders = list(Ladder.objects.all())
    if game:
        try:
            kind = catalogue.find(game)
            if rules:
                kind.preset(rules)
        except UnknownRulesError as error:
            raise ValidationError({"rules" if rules else "game": f"{error}."}) from None
        ladders = [each for each in ladders if each.game == game and rules in ("", each.rules)]
        if rules:
            _require_seats(game, rules, seats)
    entered = set(own.ladder_entries.values_list("ladder", flat=True))
    ladders.sort(key=lambda each: (each.pk not in entered, each.seats != seats, each.slug))
    for ladder in ladders:
        if _takes(ladder.game, ladder.rules, seats) and (game or _qualified(found, ladder.game)):
            return Setting(ladder.game, ladder.rules, ladder.move_seconds, ladder.bank_seconds)
    if game and rules:
        return Setting(game, rules)
    common = [game] if game else [name for name in catalogue.GAMES if _qualified(found, name)]
    for name in common:
        for preset in catalogue.find(name).presets:
            if _takes(name, preset, seats):
                return Setting(name, preset)
    if len(common) == 1:
        [only] = common
        counts = [_seats_of(only, preset) for preset in catalogue.find(only).presets]
        fewest, most = min(low for low, _ in counts), max(high for _, high in counts)
        what = only if game else f"The one game that all these bots play, `{only}`,"
        raise ValidationError({"opponents": _wrong_seats(what, seats, fewest, most)})
    raise ValidationError(
        {
            "opponents": f"No game that all these bots play has {seats} seats. `twelve-days` takes "
            "3 to 8 bots and `partridge` 2 to 8, your bot included. Name more or fewer opponents."
        }
    )


def _qualified(found: Iterable[Bot], game: str) -> bool:
    """Return whether all of these bots may play a game."""
    try:
        for bot in found:
            bots.require_qualified(bot, game)
    except ValidationError:
        return False
    return True


def _seats_of(game: str, rules: str) -> tuple[int, int]:
    preset = catalogue.find(game).preset(rules)
    return preset.min_seats, preset.max_seats


def _takes(game: str, rules: str, seats: int) -> bool:
    low, high = _seats_of(game, rules)
    return low <= seats <= high


def _require_seats(game: str, rules: str, seats: int) -> None:
    """Raise unless a preset takes so many bots."""
    if not _takes(game, rules, seats):
        low, high = _seats_of(game, rules)
        raise ValidationError({"opponents": _wrong_seats(f"{game} {rules}", seats, low, high)})


def _wrong_seats(what: str, seats: int, low: int, high: int) -> str:
    return (
        f"{what} takes {low} to {high} bots, and you named {seats}, your bot included. Name "
        f"{low - 1} to {high - 1} opponents."
    )

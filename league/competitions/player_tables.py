"""Tables of players: people sit down against bots in the browser (docs/play.md).

A table that one person starts begins at once. A table that others may join waits until one of its
players starts it; then bots take the empty seats.
"""

import random
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from bots_sdk.statuses import UNFINISHED
from engine.errors import UnknownRulesError
from engine.games import catalogue
from league import bots, play
from league.accounts import new_bot_token, tokens
from league.competitions.challenges import challengeable, require_qualified_for
from league.models import Bot, BotVersion, Match, PlayerTable, SeatedPlayer
from league.models.players import MAX_NICKNAME, WAITING_ROOM

LEVELS = {
    "easy": ["house-random", "house-thumb", "house-random-2", "house-thumb-2", "house-counting"],
    "medium": ["house-thumb", "house-counting", "house-thumb-2", "house-random", "house-search"],
    "hard": ["house-counting", "house-search", "house-thumb", "house-thumb-2", "house-random"],
}
"""The house bots of each level, those that take a seat first in front."""
SUBSTITUTES = ("house-counting", "house-thumb", "house-random")
"""The house bots that play on for players who leave; the first one that can play does."""
PLAYER_MOVE_SECONDS = 60.0
NO_CLOCK_SECONDS = 3600.0
"""Time for a move at a table without a clock, so that an abandoned match ends."""
_REMOVED_AT_ONCE = 500
_LOT = random.SystemRandom()


def open_table(
    *,
    game: str,
    rules: str,
    seats: int,
    level: str = "medium",
    opponents: Sequence[str] = (),
    nickname: str = "",
    user: User | None = None,
    has_clock: bool = True,
    waits: bool = False,
) -> tuple[PlayerTable, str]:
    """Open a table for a player; return it and the text of the player's play token.

    Args:
        game: slug of the game.
        rules: name of the preset.
        seats: number of seats.
        level: of the house bots, a key of `LEVELS`.
        opponents: names of bots that sit down first; those of other owners need an account.
        nickname: of the player; empty for the user name, or "guest".
        user: the player's account, if the player has signed in.
        has_clock: whether a move has 60 s; without a clock it has an hour.
        waits: whether others may join before the match starts.

    Raises:
        ValidationError: by field: the game, preset, level or bot does not exist, the preset does
            not take so many seats, or a bot does not accept. Or with code ``too-many-tables``.
    """
    now = timezone.now()
    try:
        catalogue.find(game).preset(rules).check_seats(seats)
    except UnknownRulesError as error:
        raise ValidationError({"seats": str(error)}) from None
    # A bot without a seat would not play, but its owner's limit of challenges would count it.
    if len(set(opponents)) >= seats:
        most = "1 bot" if seats == 2 else f"{seats - 1} bots"
        raise ValidationError(
            {"opponents": f"Name at most {most} for {seats} seats; one of the seats is yours."}
        )
    names = _opponents(game, level, opponents, user)
    if not has_clock and Bot.objects.remote().filter(name__in=names).exists():
        raise ValidationError(
            {"has_clock": "A match with a remote bot needs the clock; switch it on."}
        )
    if not has_clock and waits:
        raise ValidationError(
            {"has_clock": "A match with several players needs the clock; switch it on."}
        )
    if len(names) + 1 < seats:
        raise ValidationError(
            {"seats": f"Choose at most {len(names) + 1} seats. No more bots can play now."}
        )
    if PlayerTable.objects.open(now).count() >= settings.MAX_PLAYER_TABLES:
        raise ValidationError(
            "All tables are taken now. Try again in a few minutes.", code="too-many-tables"
        )
    with transaction.atomic():
        table = PlayerTable.objects.create(
            code=secrets.token_hex(8),
            game=game,
            rules=rules,
            seats=seats,
            bots=names,
            has_clock=has_clock,
            move_seconds=PLAYER_MOVE_SECONDS if has_clock else NO_CLOCK_SECONDS,
        )
        token = _seat(table, nickname, user)
    if not waits:
        start_table(table)
    return table, token


def join_table(table: PlayerTable, *, nickname: str = "", user: User | None = None) -> str:
    """Sit down at a table that waits; return the text of the player's play token.

    A user who has a seat at the table keeps it, and gets another token for it.

    Raises:
        ValidationError: the match has started, or no seat is free.
    """
    with transaction.atomic():
        _lock(table)
        seated = player_with(table, "", user)
        if seated is not None:
            return renew_token(seated)
        if match_of(table) is not None:
            raise ValidationError("The match has started already.", code="started")
        _require_open(table)
        if table.players.count() >= table.seats:
            raise ValidationError("All seats are taken.", code="full")
        return _seat(table, nickname, user)


def start_table(table: PlayerTable) -> Match:
    """Start the match of a table, with bots in its empty seats; return the match.

    A table that has started keeps its match.

    Raises:
        ValidationError: no house bot can play, or the table has waited too long.
    """
    with transaction.atomic():
        _lock(table)
        started = match_of(table)
        if started is not None:
            return started
        _require_open(table)
        people = list(table.players.select_related("bot__current"))
        names = [*table.bots, *SUBSTITUTES]
        list(Bot.objects.locked().filter(name__in=names))
        can_play = Bot.objects.playable().online().select_related("current")
        found = {bot.name: bot for bot in can_play.filter(name__in=names)}
        substitute = next((found[name] for name in SUBSTITUTES if name in found), None)
        fill = [found[name] for name in table.bots if name in found]
        fill = fill[: table.seats - len(people)]
        if substitute is None or len(fill) + len(people) < table.seats:
            raise ValidationError("The house bots can't play now.", code="no-bots")
        versions = [_version(bot) for bot in [*(each.bot for each in people), *fill]]
        _LOT.shuffle(versions)
        match = play.open_player_match(table=table, versions=versions, substitute=substitute)
    play.open_live(match.pk)
    return match


def leave_table(player: SeatedPlayer) -> bool:
    """Leave a table: a house bot plays on, or the seat of a waiting table is free again.

    Returns:
        Whether this call gave the seat to a house bot; not if the match is over.
    """
    table = player.table
    with transaction.atomic():
        _lock(table)
        match = match_of(table)
        if match is None:
            _remove_people([player])
            return False
    return play.hand_over(match.pk, player.bot_id)


def keep_table(table: PlayerTable) -> None:
    """Keep the match of a table: it is not removed after ``settings.PLAYER_MATCH_DAYS``."""
    PlayerTable.objects.filter(pk=table.pk, kept_at=None).update(kept_at=timezone.now())


def player_with(table: PlayerTable, token: str, user: User | None) -> SeatedPlayer | None:
    """Return the player at a table who holds a play token, or who has an account; else None."""
    people = table.players.select_related("bot__current", "table")
    found = tokens.find_token(token) if token else None
    if found is not None and found.bot_id is not None:
        player = people.filter(bot=found.bot_id).first()
        if player is not None:
            return player
    return people.filter(user=user).first() if user is not None else None


def renew_token(player: SeatedPlayer) -> str:
    """Give a player another play token, which is returned; the old one stops working."""
    return new_bot_token(player.bot)


def match_of(table: PlayerTable) -> Match | None:
    """Return the match of a table, None before it starts."""
    return Match.objects.filter(table=table).first()


def is_over(table: PlayerTable, now: datetime) -> bool:
    """Return whether a table has waited too long for its start."""
    return now - table.created_at > WAITING_ROOM


def remove_old_tables(now: datetime) -> int:
    """Delete tables that never started, and matches of players that nobody keeps.

    Returns:
        The number of tables, at most 500. Call again for the others.
    """
    unfinished = PlayerTable.objects.filter(match__status__in=UNFINISHED)
    old = PlayerTable.objects.filter(
        kept_at=None, created_at__lt=now - timedelta(days=settings.PLAYER_MATCH_DAYS)
    ).exclude(pk__in=unfinished)
    stale = PlayerTable.objects.filter(match=None, created_at__lt=now - WAITING_ROOM)
    removable, removed = old | stale, 0
    for pk in [*removable.order_by("pk").values_list("pk", flat=True)[:_REMOVED_AT_ONCE]]:
        with transaction.atomic():
            table = PlayerTable.objects.select_for_update().filter(pk=pk).first()
            # Under the lock, because the match may have started, or a player kept it.
            if table is None or not removable.filter(pk=pk).exists():
                continue
            Match.objects.filter(table=table).delete()
            _remove_people(list(table.players.all()))
            table.delete()
            removed += 1
    return removed


def _opponents(game: str, level: str, wanted: Sequence[str], user: User | None) -> list[str]:
    """Return the names of the bots that may fill a table, those that sit down first in front."""
    if level not in LEVELS:
        raise ValidationError({"level": f"Choose from {', '.join(LEVELS)}."})
    can_play = Bot.objects.playable().select_related("current", "owner")
    house = set(can_play.house().values_list("name", flat=True))
    names: list[str] = []
    for name in dict.fromkeys(wanted):
        bot = can_play.filter(name=name).first()
        if bot is None:
            raise ValidationError({"opponents": f"There is no bot {name} that can play."})
        if bot.kind != Bot.Kind.HOUSE:
            if user is None:
                raise ValidationError(
                    {"opponents": f"Sign in to play against {name}; house bots play with anyone."}
                )
            try:
                if bot.owner_id == user.pk:
                    bots.require_playable(bot)
                elif reason := challengeable(bot):
                    raise ValidationError(reason)
                require_qualified_for(user, bot, game)
            except ValidationError as error:
                raise ValidationError({"opponents": error.messages}) from None
        names.append(name)
    usual = [name for name in LEVELS[level] if name in house]
    return list(dict.fromkeys([*names, *usual, *sorted(house)]))


def _seat(table: PlayerTable, nickname: str, user: User | None) -> str:
    """Seat a person; return the text of the play token."""
    name = " ".join(nickname.split()) or (user.get_username() if user else "guest")
    name = "".join(char for char in name if char.isprintable())[:MAX_NICKNAME] or "guest"
    taken = {each.casefold() for each in table.players.values_list("nickname", flat=True)}
    chosen, number = name, 2
    while chosen.casefold() in taken or chosen in table.bots:
        chosen = f"{name[: MAX_NICKNAME - 3]} {number}"
        number += 1
    bot, token = bots.create_player(chosen)
    SeatedPlayer.objects.create(table=table, bot=bot, nickname=chosen, user=user)
    return token


def _version(bot: Bot) -> BotVersion:
    version = bot.current_version()
    assert version is not None, "a bot that can play has a version"
    return version


def _require_open(table: PlayerTable) -> None:
    if is_over(table, timezone.now()):
        raise ValidationError("This table is closed. Start a new one.", code="closed")


def _lock(table: PlayerTable) -> None:
    PlayerTable.objects.select_for_update().get(pk=table.pk)


def _remove_people(people: Sequence[SeatedPlayer]) -> None:
    ids = [each.bot_id for each in people]
    SeatedPlayer.objects.filter(bot__in=ids).delete()
    bots.remove_players(ids)

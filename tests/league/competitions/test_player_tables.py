"""Tables of players: a person sits down, moves as a bot does, and may leave."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from league import bots, competitions, play, ratings
from league.accounts import tokens
from league.competitions import player_tables
from league.models import Bot, Match, MatchSeat, PlayerTable, QualifyingMatch, SeatedPlayer, Turn
from league.play.record_files import record_lines
from league.visibility import public_results
from tests.league import small
from tests.league.play import live
from tests.league.players import house_bots
from web.selectors.bots import last_faults
from web.selectors.matches import last_numbers, matches_listed

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def house(db: None) -> None:
    house_bots()


def sit(game: str = "twelve-days", rules: str = "eight-nights", **options: object) -> SeatedPlayer:
    """Open a table of three for one player, and start it."""
    given: dict[str, Any] = {"seats": 3, "level": "easy", "nickname": "Ada", **options}
    table, _ = competitions.open_table(game=game, rules=rules, **given)
    return table.players.select_related("bot", "table").get()


def match_of(player: SeatedPlayer) -> Match:
    match = player_tables.match_of(player.table)
    assert match is not None
    return match


def play_to_the_end(player: SeatedPlayer) -> Match:
    """Let the player and the house bots move until the match is over."""
    match = match_of(player)
    for _ in range(1000):
        play.play_house_turns(match.pk)
        turns = play.open_turns(player.bot, timezone.now())
        if not turns:
            break
        live.answer(player.bot, turns[0], timezone.now())
    match.refresh_from_db()
    return match


@pytest.mark.parametrize(
    ("game", "rules"), [("twelve-days", "calliope"), ("partridge", "eagle-short")]
)
def test_a_player_plays_a_whole_match_against_house_bots(game: str, rules: str) -> None:
    player = sit(game, rules)
    match = play_to_the_end(player)
    assert match.status == Match.Status.FINISHED
    seat = match.seating.get(bot=player.bot)
    assert seat.score is not None
    assert seat.faults == 0
    assert (match.record.players or ())[seat.seat] == player.bot.name


def test_a_players_bot_is_in_no_list_and_its_token_works_for_its_match_alone() -> None:
    table, token = competitions.open_table(game="partridge", rules="eagle-short", seats=2)
    player = table.players.get()
    assert player.bot not in Bot.objects.all()
    assert tokens.bot_for_token(token) == player.bot
    assert token.startswith(tokens.PLAY_TOKEN)
    assert player_tables.player_with(table, token, None) == player
    other, _ = competitions.open_table(game="partridge", rules="eagle-short", seats=2)
    assert player_tables.player_with(other, token, None) is None


def test_leaving_after_the_end_of_the_match_changes_nothing() -> None:
    player = sit()
    match = play_to_the_end(player)
    assert match.status == Match.Status.FINISHED
    assert not competitions.leave_table(player)
    match.refresh_from_db()
    assert not match.handed_over_at
    assert not play.has_left(match, match.seating.get(bot=player.bot))


def test_a_seat_that_its_player_leaves_is_played_on_by_a_house_bot() -> None:
    player = sit()
    match = match_of(player)
    play.play_house_turns(match.pk)
    assert play.open_turns(player.bot, timezone.now())
    competitions.leave_table(player)
    assert play.has_left(match, match.seating.get(bot=player.bot))
    play.play_house_turns(match.pk)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED
    assert match.seating.get(bot=player.bot).faults == 0
    assert not Turn.objects.open().filter(match=match).exists()


def test_nobody_moves_for_a_seat_that_was_handed_over() -> None:
    player = sit()
    match = match_of(player)
    [turn] = play.open_turns(player.bot, timezone.now())
    competitions.leave_table(player)
    with pytest.raises(play.MoveRefusedError) as refused:
        live.answer(player.bot, turn, timezone.now())
    assert refused.value.code == "turn-not-open"
    assert match.live_moves.filter(seat=turn["seat"]).count() == 0


def test_a_house_bot_plays_on_after_a_player_was_away_for_two_turns() -> None:
    player = sit()
    match = match_of(player)
    for _ in range(2):
        play.play_house_turns(match.pk)
        turn = Turn.objects.open().get(match=match, bot=player.bot)
        play.expire_overdue(turn.deadline + timedelta(seconds=1))
    play.play_house_turns(match.pk)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED
    seat = match.seating.get(bot=player.bot)
    assert (seat.faults, seat.forfeited) == (2, False)
    assert play.has_left(match, seat)


def test_a_move_has_60_seconds_with_a_clock_and_an_hour_without() -> None:
    assert match_of(sit()).move_seconds == 60.0
    assert match_of(sit(has_clock=False)).move_seconds == 3600.0


def test_a_match_of_players_counts_for_nothing(client: Client) -> None:
    match = play_to_the_end(sit())
    house = match.seating.exclude(bot__kind=Bot.Kind.PLAYER).first().bot
    listed = client.get("/api/v1/matches", {"bot": house.name}).json()
    assert listed["results"] == []
    assert [*record_lines(house)] == []
    assert match.pk not in {each.pk for each in matches_listed()}
    assert last_numbers(house) == []
    assert last_faults(house, 10).matches == 0
    assert not Match.objects.filter(public_results(), pk=match.pk).exists()
    assert match.block is None
    assert ratings.rounds_to_apply() == []
    assert client.get(f"/api/v1/matches/{match.pk}").status_code == 200


def test_a_play_token_makes_no_other_call_of_the_api(client: Client) -> None:
    small.ladder()
    table, token = competitions.open_table(game="partridge", rules="eagle-short", seats=2)
    name = table.players.get().bot.name
    for method, path in [("put", f"ladders/quick/entries/{name}"), ("get", "matches")]:
        answer = getattr(client, method)(
            f"/api/v1/{path}", headers={"Authorization": f"Bearer {token}"}
        )
        assert answer.status_code == 401
        assert answer.json()["detail"].startswith("A play token only makes moves in its match.")


def test_a_match_is_removed_after_30_days_unless_a_player_keeps_it() -> None:
    gone, kept = sit(), sit()
    for player in (gone, kept):
        competitions.leave_table(player)
        play.play_house_turns(match_of(player).pk)
    competitions.keep_table(kept.table)
    in_play = sit()
    later = timezone.now() + timedelta(days=29)
    assert competitions.remove_old_tables(later) == 0
    assert competitions.remove_old_tables(later + timedelta(days=2)) == 1
    assert {*PlayerTable.objects.all()} == {kept.table, in_play.table}
    assert {*Bot.with_players.filter(kind=Bot.Kind.PLAYER)} == {kept.bot, in_play.bot}
    assert Match.objects.count() == 2


def test_a_table_that_never_starts_is_removed_after_an_hour() -> None:
    table, _ = competitions.open_table(game="partridge", rules="eagle", seats=4, waits=True)
    assert competitions.remove_old_tables(timezone.now()) == 0
    assert competitions.remove_old_tables(timezone.now() + timedelta(hours=2)) == 1
    assert not PlayerTable.objects.filter(pk=table.pk).exists()
    assert not Bot.with_players.filter(kind=Bot.Kind.PLAYER).exists()


def test_only_so_many_tables_are_open_at_the_same_time(settings: Settings) -> None:
    settings.MAX_PLAYER_TABLES = 2
    first = sit()
    sit()
    with pytest.raises(ValidationError) as refused:
        sit()
    assert refused.value.code == "too-many-tables"
    competitions.leave_table(first)
    play.play_house_turns(match_of(first).pk)
    sit()


def test_several_players_sit_at_one_table_and_bots_take_the_empty_seats() -> None:
    table, _ = competitions.open_table(
        game="partridge", rules="eagle-short", seats=4, nickname="Ada", waits=True
    )
    competitions.join_table(table, nickname="Ada")
    assert [each.nickname for each in table.players.all()] == ["Ada", "Ada 2"]
    match = competitions.start_table(table)
    assert competitions.start_table(table) == match
    kinds = sorted(seat.bot.kind for seat in match.seating.all())
    assert kinds == ["house", "house", "player", "player"]
    with pytest.raises(ValidationError, match="started"):
        competitions.join_table(table)
    match.refresh_from_db()
    assert match.status == Match.Status.PLAYING


def test_a_waiting_table_takes_no_more_players_than_seats() -> None:
    table, _ = competitions.open_table(game="partridge", rules="eagle", seats=2, waits=True)
    competitions.join_table(table)
    with pytest.raises(ValidationError, match="taken"):
        competitions.join_table(table)
    competitions.leave_table(table.players.latest("pk"))
    competitions.join_table(table)


def test_only_people_with_an_account_play_against_other_peoples_bots() -> None:
    owner = User.objects.create(username="owner")
    [bot] = small.bots(1, owner, prefix="theirs")
    options: dict[str, Any] = {
        "game": "partridge",
        "rules": "eagle-short",
        "seats": 2,
        "opponents": [bot.name],
    }
    with pytest.raises(ValidationError, match="Sign in"):
        competitions.open_table(**options)
    guest = User.objects.create(username="visitor")
    table, _ = competitions.open_table(**options, user=guest)
    assert MatchSeat.objects.filter(match__table=table, bot=bot).exists()
    failed = QualifyingMatch.objects.create(
        version=small.versions([bot])[0],
        game="partridge",
        passed=False,
        reason="crash: its secret plan",
    )
    with pytest.raises(ValidationError) as refused:
        competitions.open_table(**options, user=guest)
    assert refused.value.message_dict == {
        "opponents": ["theirs-0 does not play 12 Days of Christmas; choose another bot."]
    }
    failed.delete()
    Bot.objects.filter(pk=bot.pk).update(max_challenges_per_day=2)
    competitions.open_table(**options, user=owner)  # an owner's own tables do not count
    competitions.open_table(**options, user=guest)
    with pytest.raises(ValidationError, match="has had 2 challenges in 24 hours"):
        competitions.open_table(**options, user=guest)
    bot.challenges_from = Bot.Challengers.NOBODY
    bot.save()
    with pytest.raises(ValidationError, match="switched them off"):
        competitions.open_table(**options, user=guest)


def test_no_bot_is_named_that_has_no_seat_and_so_would_only_use_up_a_challenge() -> None:
    names = [bot.name for bot in small.bots(2, User.objects.create(username="owner"))]
    Bot.objects.update(max_challenges_per_day=1)
    options: dict[str, Any] = {"game": "partridge", "rules": "eagle-short", "opponents": names}
    guest = User.objects.create(username="visitor")
    with pytest.raises(ValidationError) as refused:
        competitions.open_table(**options, seats=2, user=guest)
    assert refused.value.message_dict == {
        "opponents": ["Name at most 1 bot for 2 seats; one of the seats is yours."]
    }
    table, _ = competitions.open_table(**options, seats=3, user=guest)
    assert MatchSeat.objects.filter(match__table=table, bot__name__in=names).count() == 2


def test_a_player_does_not_wait_for_an_own_bot_whose_program_does_not_run() -> None:
    user = User.objects.create(username="ada")
    bot, _ = bots.create_bot(owner=user, name="far-away", kind="remote")
    options: dict[str, Any] = {"game": "partridge", "rules": "eagle-short", "seats": 2}
    with pytest.raises(ValidationError, match="far-away is offline"):
        competitions.open_table(**options, opponents=[bot.name], user=user)
    Bot.objects.filter(pk=bot.pk).update(seen_at=timezone.now())
    table, _ = competitions.open_table(**options, opponents=[bot.name], user=user)
    assert MatchSeat.objects.filter(match__table=table, bot=bot).exists()
    waits, _ = competitions.open_table(**options, opponents=[bot.name], user=user, waits=True)
    Bot.objects.filter(pk=bot.pk).update(seen_at=timezone.now() - timedelta(minutes=5))
    match = competitions.start_table(waits)  # a house bot takes the seat
    assert not MatchSeat.objects.filter(match=match, bot=bot).exists()


def test_nobody_can_create_a_bot_of_a_player() -> None:
    owner = User.objects.create(username="owner")
    with pytest.raises(ValidationError):
        bots.create_bot(owner=owner, name="sneaky", kind=Bot.Kind.PLAYER)
    with pytest.raises(ValidationError):
        bots.create_bot(owner=owner, name="sneaky_123456", kind=Bot.Kind.REMOTE)

"""Swisses, knockouts and round robins through the real services, with bots that come and go."""

import threading
from collections import Counter
from datetime import timedelta
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.utils import timezone

from engine.pairing import seeding, stages
from engine.rating import elo
from engine.rating.blocks import derive_block_seed, plan_block
from engine.record import verify
from league import competitions, ratings
from league.competitions.history import history_of
from league.competitions.tournament_standings import (
    bracket_of,
    cross_table_of,
    tournament_standings,
)
from league.models import (
    Block,
    Bot,
    Bye,
    Match,
    MatchSeat,
    Round,
    Schedule,
    Tournament,
    TournamentEntry,
)
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


def begun(bots: int = 7, seats: int = 4, **event_settings: object) -> Tournament:
    """Return a tournament whose first round is open and not played."""
    tournament = small.tournament(small.ladder(seats=seats), **event_settings)
    small.bots(bots)
    competitions.advance(tournament.pk)
    return again(tournament)


def entered_by(bots: list[Bot], seats: int = 3, **event_settings: object) -> Tournament:
    """Return a tournament of these bots alone that is due to start."""
    ladder = small.ladder(seats=seats)
    tournament = small.tournament(ladder, house_bots=False, **event_settings)
    Tournament.objects.update(starts_at=timezone.now() + timedelta(hours=1))
    competitions.advance(tournament.pk)
    for bot in bots:
        competitions.enter(tournament=tournament, bot=bot)
    Tournament.objects.update(starts_at=timezone.now())
    return tournament


def again(tournament: Tournament) -> Tournament:
    return Tournament.objects.select_related("ladder").get(pk=tournament.pk)


def tables(tournament: Tournament) -> list[list[int]]:
    """Return the bots of each block, round by round."""
    blocks = Block.objects.filter(round__tournament=tournament).order_by("number")
    return [sorted(block.bots.values_list("bot", flat=True)) for block in blocks]


def play_round() -> None:
    """Play all that is due, and close what is over; the next round is not opened."""
    assert small.play_due()
    for round_id in ratings.rounds_to_close():
        assert ratings.close_round(round_id)


def late_bot(name: str = "late-bot") -> Bot:
    owner, _ = User.objects.get_or_create(username="ada")
    [bot] = small.bots(1, owner=owner, prefix=name)
    return bot


def test_a_swiss_of_house_bots_plays_itself_to_the_end() -> None:
    tournament = begun(format="swiss")
    small.run_all()
    tournament = again(tournament)
    assert tournament.state == "finished"
    assert tournament.rounds.count() == 5  # ceil(log2 7) + 2
    for round_ in tournament.rounds.all():
        seated = Counter(round_.blocks.values_list("bots__bot", flat=True))
        assert len(seated) == 7
        assert set(seated.values()) == {2}  # two blocks a table
    assert {match.seats for match in Match.objects.all()} == {3, 4}
    for match in Match.objects.all():
        verify(match.record)
    ladder = tournament.ladder
    assert sum(ladder.standings.values_list("rating", flat=True)) == 7 * elo.START
    assert ratings.recompute(ladder) == []
    rows = tournament_standings(tournament)
    assert [placed.row.rank for placed in rows] == list(range(1, 8))
    numbers = [block.number for block in Block.objects.order_by("number")]
    assert numbers == list(range(len(numbers)))


def test_the_second_block_of_an_odd_table_sits_the_other_way_round() -> None:
    begun(bots=3, seats=3, format="swiss")
    for block in Block.objects.all():
        seed = derive_block_seed(bytes(block.round.seed), block.number)
        bots = list(block.bots.values_list("bot", flat=True))
        plan = plan_block(seed, bots, duplicate=True, odd_repeat=block.number == 1)
        stored = [
            tuple(match.seating.order_by("seat").values_list("bot", flat=True))
            for match in block.matches.order_by("number")
        ]
        assert stored == [match.seating for match in plan.matches]


def test_a_knockout_of_house_bots_plays_itself_to_the_end() -> None:
    tournament = begun(bots=9, seats=4, format="knockout")
    small.run_all()
    tournament = again(tournament)
    assert tournament.state == "finished"
    bracket = bracket_of(history_of(tournament))
    assert [len(round_.tables) for round_ in bracket] == [3, 2, 1]
    assert [round_.final for round_ in bracket] == [False, False, True]
    [final] = bracket[-1].tables
    rows = tournament_standings(tournament)
    assert rows[0].bot == final.seats[0].bot
    assert [seat.goes_on for seat in final.seats] == [True, False, False, False]
    reached = [placed.row.round_reached for placed in rows]
    assert reached == sorted(reached, reverse=True)
    assert ratings.recompute(tournament.ladder) == []


def test_knockouts_are_seeded_by_the_ratings_at_the_start() -> None:
    first = begun(bots=4, seats=4)
    small.run_all()
    ratings = dict(again(first).ladder.standings.values_list("bot", "rating"))
    tournament = small.tournament(again(first).ladder, format="knockout")
    competitions.advance(tournament.pk)
    stored = dict(tournament.entries.values_list("bot", "rating"))
    assert stored == ratings
    [table] = bracket_of(history_of(again(tournament)))[0].tables
    by_seed = sorted(table.seats, key=lambda seat: seat.seed or 0)
    assert [stored[seat.bot.pk] for seat in by_seed] == sorted(ratings.values(), reverse=True)


def test_a_round_is_opened_once_however_many_do_it_at_once() -> None:
    tournament = begun(format="swiss")
    play_round()
    failed: list[Exception] = []

    def work() -> None:
        try:
            competitions.advance(tournament.pk)
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failed == []
    assert list(tournament.rounds.values_list("stage", "extra")) == [(1, 0), (2, 0)]


@pytest.mark.parametrize("of", ["swiss", "knockout", "round-robin"])
def test_a_crash_while_a_round_is_opened_leaves_nothing_and_the_next_try_draws_the_same(
    of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = small.tournament(small.ladder(seats=3), format=of)
    small.bots(6)

    def crash(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("the machine is gone")

    drawn = []
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr("league.competitions.rounds.plan_block", crash)
            with pytest.raises(RuntimeError, match="the machine is gone"):
                competitions.advance(tournament.pk)
        assert not Round.objects.exists()
        assert again(tournament).state == "announced"
    competitions.advance(tournament.pk)
    drawn = tables(tournament)
    Match.objects.all().delete()
    Block.objects.all().delete()
    Round.objects.all().delete()
    competitions.advance(tournament.pk)
    assert tables(tournament) == drawn


def test_a_tie_at_the_cut_opens_an_extra_block_for_that_table() -> None:
    tournament = begun(bots=4, seats=2, format="knockout")
    play_round()
    level, clear = Block.objects.order_by("number")
    MatchSeat.objects.filter(match__block=level).update(place=1)
    better, _ = tables(tournament)[1]
    seats = MatchSeat.objects.filter(match__block=clear)
    seats.update(place=2)
    seats.filter(bot=better).update(place=1)
    competitions.advance(tournament.pk)
    extra = tournament.rounds.order_by("number").last()
    assert extra is not None
    assert (extra.stage, extra.extra) == (1, 1)
    assert extra.blocks.count() == 1
    assert tables(tournament)[2] == tables(tournament)[0]
    small.run_all()
    assert again(tournament).state == "finished"
    # Only what is in the records counts for ratings.
    assert sum(tournament.ladder.standings.values_list("rating", flat=True)) == 4 * elo.START


def test_a_cut_that_stays_tied_says_that_the_better_seed_went_on() -> None:
    tournament = begun(bots=2, seats=2, format="knockout")
    for _ in range(5):
        play_round()
        MatchSeat.objects.update(place=1)
        competitions.advance(tournament.pk)
    assert again(tournament).state == "finished"
    [final] = bracket_of(history_of(again(tournament)))
    [table] = final.tables
    assert (table.extra_blocks, table.by_seed) == (4, True)
    assert [(seat.seed, seat.goes_on) for seat in table.seats] == [(1, True), (2, False)]


def test_without_extra_blocks_a_tie_at_the_cut_is_decided_by_seed_at_once() -> None:
    tournament = begun(bots=2, seats=2, format="knockout", extra_blocks=0)
    play_round()
    MatchSeat.objects.update(place=1)
    competitions.advance(tournament.pk)
    assert again(tournament).state == "finished"
    [final] = bracket_of(history_of(again(tournament)))
    assert (final.tables[0].extra_blocks, final.tables[0].by_seed) == (0, True)


def test_a_round_robin_plays_as_many_tables_as_its_organiser_wants() -> None:
    tournament = begun(bots=8, seats=4, max_tables=10)
    small.run_all()
    drawn = tables(again(tournament))
    assert len(drawn) == 10
    assert Counter(bot for table in drawn for bot in table) == dict.fromkeys(
        Bot.objects.values_list("pk", flat=True), 5
    )


def test_house_bots_fill_in_where_the_organiser_wants_it_and_are_not_ranked() -> None:
    tournament = small.tournament(
        small.ladder(seats=4), format="swiss", house_bots=False, fill_in=True
    )
    Tournament.objects.update(starts_at=timezone.now() + timedelta(hours=1))
    competitions.advance(tournament.pk)
    house = small.bots(4)
    entered = []
    for number in range(6):
        owner = User.objects.create(username=f"owner-{number}")
        entered += small.bots(1, owner=owner, prefix=f"own-{number}")
        competitions.enter(tournament=tournament, bot=entered[-1])
    Tournament.objects.update(starts_at=timezone.now())
    small.run_all()
    assert {len(table) for table in tables(tournament)} == {4}
    rows = tournament_standings(again(tournament))
    assert {placed.bot for placed in rows} == set(entered)
    sat = {bot for table in tables(tournament) for bot in table}
    assert sat & {bot.pk for bot in house}
    crossed = cross_table_of(history_of(again(tournament)), rows)
    assert all(row.placed.bot in entered for row in crossed)


def test_bots_of_one_owner_meet_only_where_there_is_no_other_way_and_unrated() -> None:
    owner = User.objects.create(username="ada")
    field = [*small.bots(4, owner=owner, prefix="ada"), *small.bots(2)]
    tournament = entered_by(field, format="swiss")
    competitions.advance(tournament.pk)
    own = set(owner.bots.values_list("pk", flat=True))
    for block in Block.objects.all():
        together = len(own & set(block.bots.values_list("bot", flat=True))) > 1
        assert block.rated != together
    assert Block.objects.filter(rated=False).exists()


@pytest.mark.parametrize("format_", ["round-robin", "swiss", "knockout"])
def test_bots_of_one_owner_alone_play_to_the_end_and_are_not_rated(
    client: Client, format_: str
) -> None:
    owner = User.objects.create(username="ada")
    tournament = entered_by(small.bots(5, owner=owner), format=format_)
    small.run_all()
    tournament = again(tournament)
    assert tournament.state == "finished"
    blocks = Block.objects.filter(round__tournament=tournament)
    assert set(blocks.values_list("state", "rated")) == {("finished", False)}
    assert not tournament.ladder.standings.exists()
    assert ratings.recompute(tournament.ladder) == []
    assert [placed.row.rank for placed in tournament_standings(tournament)] == [1, 2, 3, 4, 5]
    rounds = client.get(f"/api/v1/tournaments/{tournament.pk}/rounds").json()["results"]
    assert {table["rated"] for round_ in rounds for table in round_["tables"]} == {False}
    text = client.get(f"/tournaments/{tournament.pk}/").content.decode()
    assert "not rated: one owner’s bots sat together" in text
    assert f"So far {len(blocks)} of {len(blocks)} blocks had to seat them together." in text
    text = client.get("/ladders/quick/rounds/1/").content.decode()
    assert "not rated: one owner’s bots sat together" in text


@pytest.mark.parametrize(("seats", "left_out"), [(2, 1), (3, 3)])
def test_tables_of_a_round_robin_that_would_seat_an_owner_twice_count_half_for_each_bot(
    client: Client, seats: int, left_out: int
) -> None:
    owner = User.objects.create(username="ada")
    own = small.bots(2, owner=owner, prefix="ada")
    tournament = entered_by([*own, *small.bots(3)], seats=seats)
    small.run_all()
    entered = sorted(tournament.entries.values_list("bot", flat=True))
    drawn = list(combinations(entered, seats))
    played = {tuple(table) for table in tables(tournament)}
    together = [table for table in drawn if {bot.pk for bot in own} <= set(table)]
    assert (len(together), played) == (left_out, set(drawn) - set(together))
    assert all(Block.objects.values_list("rated", flat=True))
    history = history_of(again(tournament))
    taken = Counter({bot: Fraction() for bot in history.bots})
    for block in (block for round_ in history.rounds for block in round_.blocks):
        taken.update(block.scores())
    for placed in tournament_standings(again(tournament)):
        halves = sum(placed.bot.pk in table for table in together)
        assert placed.byes == halves
        assert placed.row.blocks + halves == comb(4, seats - 1)
        assert placed.row.score == taken[placed.bot.pk] + Fraction(halves, 2)
    text = client.get(f"/tournaments/{tournament.pk}/").content.decode()
    assert f"Of the {len(drawn)} tables of {seats} at the start, {left_out} would have" in text
    assert "had to seat them together" not in text


def test_who_withdraws_from_a_running_event_plays_on_where_it_sits_and_then_no_more() -> None:
    tournament = begun(format="swiss")
    bot = Bot.objects.get(name="bot-0")
    competitions.withdraw(tournament=tournament, bot=bot)
    small.run_all()
    entry = tournament.entries.get(bot=bot)
    assert (entry.state, entry.left_after) == ("withdrawn", 1)
    played = Block.objects.filter(bots__bot=bot).values_list("round__stage", flat=True)
    assert set(played) == {1}
    row = next(p.row for p in tournament_standings(again(tournament)) if p.bot == bot)
    assert (row.blocks, row.rank is not None) == (2, True)
    with pytest.raises(ValidationError, match="is finished"):
        competitions.withdraw(tournament=tournament, bot=bot)


def pause(bot: Bot, *, paused: bool = True) -> None:
    Bot.objects.filter(pk=bot.pk).update(paused=paused)


@pytest.mark.parametrize("of", ["swiss", "round-robin"])
@pytest.mark.parametrize("away", [{"paused": True}, {"current": None}])
def test_a_bot_that_cannot_be_drawn_sits_out_without_points_until_it_can_again(
    of: str, away: dict[str, object]
) -> None:
    tournament = begun(bots=9, format=of)
    bot = Bot.objects.get(name="bot-0")
    back = {name: getattr(bot, name) for name in away}
    Bot.objects.filter(pk=bot.pk).update(**away)
    play_round()
    competitions.advance(tournament.pk)
    Bot.objects.filter(pk=bot.pk).update(**back)
    play_round()
    competitions.advance(tournament.pk)
    played = Block.objects.filter(bots__bot=bot).values_list("round__stage", flat=True)
    assert set(played) == {1, 3}
    assert not Bye.objects.filter(bot=bot).exists()
    entry = tournament.entries.get(bot=bot)
    assert entry.state == "entered"


def test_a_knockout_withdraws_who_is_paused_when_it_would_be_seated() -> None:
    tournament = begun(bots=8, seats=4, format="knockout")
    play_round()
    for match in Match.objects.all():  # nobody ties at the cut
        for place, seat in enumerate(match.seating.order_by("bot"), 1):
            MatchSeat.objects.filter(pk=seat.pk).update(place=place)
    history = history_of(again(tournament))
    seeds = seeding(history.event_settings, history.entrants)
    [first, other] = stages(history.rounds, seeds)[0].tables
    through, next_in_line = first.entrants[0], first.entrants[2]
    pause(Bot.objects.get(pk=through))
    pause(Bot.objects.get(pk=other.entrants[3]))  # out already
    competitions.advance(tournament.pk)
    pause(Bot.objects.get(pk=through), paused=False)
    left = dict(tournament.entries.exclude(state="entered").values_list("bot", "left_after"))
    assert left == {through: 1}
    assert next_in_line in tables(tournament)[-1]
    small.run_all()
    assert again(tournament).state == "finished"
    assert through not in tables(tournament)[-1]


def test_a_tournament_of_which_too_few_can_be_drawn_when_it_begins_is_called_off() -> None:
    tournament = small.tournament(small.ladder(seats=2), format="knockout")
    pause(small.bots(2)[0])
    TournamentEntry.objects.create(tournament=tournament, bot=Bot.objects.get(name="bot-0"))
    competitions.advance(tournament.pk)
    assert again(tournament).state == "cancelled"


def test_who_is_disqualified_has_no_rank_and_does_not_come_back() -> None:
    tournament = begun(format="swiss", late_entry=True)
    bot = Bot.objects.get(name="bot-0")
    competitions.disqualify(tournament=tournament, bot=bot, reason="Asked for hidden cards.")
    with pytest.raises(ValidationError, match="can't come back"):
        competitions.enter(tournament=tournament, bot=bot)
    competitions.withdraw(tournament=tournament, bot=bot)
    small.run_all()
    last = tournament_standings(again(tournament))[-1]
    assert (last.bot, last.row.rank, last.entry.state) == (bot, None, "disqualified")
    assert last.row.blocks == 2
    assert ratings.recompute(tournament.ladder) == []


def test_the_winner_can_be_disqualified_after_the_end_and_the_others_move_up() -> None:
    tournament = begun(bots=6, seats=3, format="knockout")
    small.run_all()
    before = tournament_standings(again(tournament))
    competitions.disqualify(tournament=tournament, bot=before[0].bot, reason="Two accounts.")
    after = tournament_standings(again(tournament))
    assert [p.bot for p in after] == [p.bot for p in [*before[1:], before[0]]]
    assert after[0].row.rank == 1


def test_a_disqualification_needs_a_reason_and_a_bot_that_is_entered() -> None:
    tournament = begun(format="swiss")
    bot = Bot.objects.get(name="bot-0")
    with pytest.raises(ValidationError, match="Say why"):
        competitions.disqualify(tournament=tournament, bot=bot, reason=" ")
    with pytest.raises(ValidationError, match="not entered"):
        competitions.disqualify(tournament=tournament, bot=late_bot(), reason="x")


@pytest.mark.parametrize("of", ["swiss", "round-robin"])
def test_a_late_entrant_plays_from_the_next_round_on(of: str) -> None:
    tournament = begun(bots=5, seats=3, format=of, late_entry=True)
    bot = late_bot()
    entry = competitions.enter(tournament=tournament, bot=bot)
    assert (entry.first_round, entry.rating) == (2, elo.START)
    play_round()
    competitions.advance(tournament.pk)
    seated = Block.objects.filter(bots__bot=bot).values_list("round__stage", flat=True)
    assert set(seated) == {2}
    small.run_all()
    assert again(tournament).state == "finished"
    if of == "round-robin":
        assert Counter(map(tuple, tables(tournament))).most_common(1)[0][1] == 1
        assert len(tables(tournament)) == 20  # every three of six


@pytest.mark.parametrize("of", ["swiss", "round-robin", "knockout"])
def test_nobody_comes_late_where_the_organiser_does_not_allow_it(of: str) -> None:
    tournament = begun(bots=5, seats=3, format=of)
    with pytest.raises(ValidationError, match="Entries are not open"):
        competitions.enter(tournament=tournament, bot=late_bot())


def test_nobody_comes_after_the_last_round_of_a_swiss_is_open() -> None:
    tournament = begun(bots=5, seats=3, format="swiss", late_entry=True, swiss_rounds=1)
    with pytest.raises(ValidationError, match="Entries are not open"):
        competitions.enter(tournament=tournament, bot=late_bot())


def test_an_odd_one_has_a_bye_that_is_stored_and_counts_half() -> None:
    tournament = begun(bots=5, seats=2, format="swiss", swiss_rounds=1)
    bye = Bye.objects.get()
    assert bye.blocks == 2
    small.run_all()
    placed = next(p for p in tournament_standings(again(tournament)) if p.bot == bye.bot)
    assert (placed.row.score, placed.row.blocks, placed.byes) == (1, 0, 2)


def test_an_event_that_everybody_leaves_is_over() -> None:
    for of in ("swiss", "knockout", "round-robin"):
        tournament = small.tournament(small.ladder(of, seats=3), format=of)
        if not Bot.objects.exists():
            small.bots(6)
        competitions.advance(tournament.pk)
        for bot in Bot.objects.all():
            competitions.withdraw(tournament=tournament, bot=bot)
        small.run_all()
        assert again(tournament).state == "finished"
        assert tournament.rounds.count() == 1
        assert len(tournament_standings(again(tournament))) == 6


@pytest.mark.parametrize(
    ("field", "event_settings"),
    [
        ("late_entry", {"format": "knockout", "late_entry": True}),
        ("swiss_rounds", {"format": "knockout", "swiss_rounds": 3}),
        ("swiss_rounds", {"swiss_rounds": 3}),
        ("fill_in", {"fill_in": True}),
    ],
)
def test_what_does_not_go_together_is_refused_by_field(
    field: str, event_settings: dict[str, object]
) -> None:
    with pytest.raises(ValidationError) as refused:
        small.tournament(small.ladder(), **event_settings)
    assert list(refused.value.message_dict) == [field]
    assert not Tournament.objects.exists()


def test_a_schedule_hands_its_arrangement_on() -> None:
    Schedule.objects.create(
        title="Cup",
        ladder=small.ladder(),
        every_hours=1,
        first_at=timezone.now() - timedelta(minutes=30),
        format="swiss",
        swiss_rounds=4,
        blocks_per_table=1,
        house_bots=False,
        fill_in=True,
        late_entry=True,
    )
    competitions.announce_due()
    made = Tournament.objects.get()
    assert (made.format, made.swiss_rounds, made.blocks) == ("swiss", 4, 1)
    assert (made.house_bots, made.fill_in, made.late_entry) == (False, True, True)


def test_what_has_happened_costs_as_many_queries_however_long_it_is(
    django_assert_num_queries: object,
) -> None:
    tournament = begun(format="swiss")
    for _ in range(2):
        with django_assert_num_queries(6):  # type: ignore[operator]
            history_of(again(tournament))
        small.run_all()

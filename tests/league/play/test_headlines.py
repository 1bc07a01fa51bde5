"""The headline of a match."""

import pytest

from league import competitions, play
from league.models import Bot, Match, PlayerTable, SeatedPlayer
from league.play.headlines import headline, live_headline, players, seats_by_place
from tests.league import small

pytestmark = pytest.mark.django_db

NAMES = ["ada-1", "bob", "cas", "dan", "eve"]


def match(
    scores: list[int], forfeited: tuple[int, ...] = (), status: str = Match.Status.FINISHED
) -> Match:
    """Store a match of `NAMES` with these points; the places follow from them."""
    rated = [-1 if seat in forfeited else score for seat, score in enumerate(scores)]
    versions = []
    for name in NAMES[: len(scores)]:
        bot, _ = Bot.objects.get_or_create(name=name, kind=Bot.Kind.HOUSE)
        versions.append(bot.versions.get_or_create(number=1)[0])
    return Match.objects.create(
        game="twelve-days",
        rules="calliope",
        seats=len(scores),
        move_seconds=1,
        bank_seconds=1,
        stored_seed=b"",
        status=status,
        packed_record=b"record" if status == Match.Status.FINISHED else None,
        bot_ids=[version.bot_id for version in versions],
        version_ids=[version.pk for version in versions],
        scores=scores,
        places=[1 + sum(other > own for other in rated) for own in rated],
        forfeited=[seat in forfeited for seat in range(len(scores))],
    )


@pytest.mark.parametrize(
    ("scores", "forfeited", "expected"),
    [
        ([1, 6], (), "bob wins 6-1 against ada-1"),
        ([9, 6, 7], (), "ada-1 wins 9-7 against cas and bob"),
        ([1, 2, 3, 4], (), "dan wins 4-3 against cas and 2 others"),
        ([4, 4], (), "ada-1 and bob tie 4-4"),
        ([4, 2, 4, 1], (), "ada-1 and cas tie 4-4, ahead of bob and dan"),
        ([4, 4, 4, 4, 4], (), "ada-1, bob, cas and 2 others tie 4-4"),
        ([9, 6], (0,), "bob wins by forfeit against ada-1"),
        ([9, 6], (0, 1), "ada-1 and bob forfeit: a tie"),
    ],
)
def test_a_finished_match_is_named_by_its_winner_and_points(
    scores: list[int], forfeited: tuple[int, ...], expected: str
) -> None:
    assert headline(match(scores, forfeited)) == expected


def test_a_list_names_the_seats_by_place() -> None:
    assert [seat.bot.name for seat in seats_by_place(match([3, 9, 5]))] == ["bob", "cas", "ada-1"]
    forfeited = seats_by_place(match([9, 3, 5], forfeited=(0,)))
    assert [seat.bot.name for seat in forfeited] == ["cas", "bob", "ada-1"]


@pytest.mark.parametrize(
    ("points", "begun", "expected"),
    [
        ([3, 2], 0, "ada-1 leads 3-2"),
        ([3, 9, 5, 0], 0, "bob leads 9-5"),
        ([2, 2], 0, "ada-1 and bob are level at 2-2"),
        ([4, 1, 4, 4], 0, "ada-1 and 2 others are level at 4-4"),
        ([0, 0], 0, "ada-1 and bob play 12 Days"),
        ([1, 1, 1, 1], 1, "ada-1, bob and 2 others play 12 Days"),
    ],
)
def test_a_live_match_is_named_by_who_leads(points: list[int], begun: int, expected: str) -> None:
    assert live_headline("twelve-days", NAMES[: len(points)], points, begun) == expected


def test_a_replay_is_named_by_its_players_until_its_end() -> None:
    assert players(match([1, 6])) == "ada-1 and bob"
    assert players(match([1, 2, 3, 4])) == "ada-1, bob, cas and dan"
    assert players(match([1, 2, 3, 4, 5])) == "ada-1, bob, cas and 2 others"


@pytest.mark.parametrize(
    ("seats", "status", "expected"),
    [
        (2, "waiting", "ada-1 and bob: waiting"),
        (3, "playing", "ada-1, bob and cas: in play"),
        (4, "playing", "ada-1, bob and 2 others: in play"),
        (2, "void", "ada-1 and bob: void"),
    ],
)
def test_a_match_without_a_result_is_named_by_its_players_and_state(
    seats: int, status: str, expected: str
) -> None:
    assert headline(match([0] * seats, status=status)) == expected


def test_a_result_stays_hidden_while_its_deal_is_in_play_at_another_table() -> None:
    tournament = small.tournament(small.ladder())
    small.bots(3)
    competitions.advance_tournament(tournament.pk)
    first = Match.objects.earliest("pk")
    play.play_match(first.pk, players=small.players)
    hidden = headline(Match.objects.get(pk=first.pk))
    assert hidden.endswith(": result hidden")
    small.run_all()
    shown = headline(Match.objects.get(pk=first.pk))
    assert " wins " in shown or " tie " in shown


@pytest.mark.parametrize(
    ("nickname", "expected"),
    [
        ("guest", "A guest wins 6-1 against ada-1"),
        ("Ada", "Ada wins 6-1 against ada-1"),
        (None, "A guest wins 6-1 against ada-1"),
    ],
)
def test_a_person_is_named_as_given_or_as_a_guest(nickname: str | None, expected: str) -> None:
    found = match([1, 6])
    Bot.objects.filter(name="bob").update(kind=Bot.Kind.PLAYER, name="bob_1a2b3c")
    if nickname:
        table = PlayerTable.objects.create(code="x", seats=2, bots=[], move_seconds=1)
        person = Bot.with_players.get(name="bob_1a2b3c")
        SeatedPlayer.objects.create(table=table, bot=person, nickname=nickname)
    assert headline(Match.objects.get(pk=found.pk)) == expected

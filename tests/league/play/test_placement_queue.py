"""The match queue's shares of placement, of challenges and of other matches."""

from random import Random

import pytest
from django.contrib.auth.models import User

from league import competitions, play, queueing
from league.models import Match
from league.play import match_queue
from league.play.match_queue import AHEAD
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


def placing(bot: int, due: int = 0, queued: int = 0, playing: int = 0) -> match_queue._Group:
    return match_queue._Group(1, None, False, due, queued, playing, placed=bot)


def other(due: int, playing: int = 0, *, ladder: int | None = 1) -> match_queue._Group:
    return match_queue._Group(ladder, None, False, due, 0, playing)


@pytest.mark.parametrize("workers", [1, 2, 3, 8, 16])
@pytest.mark.parametrize("ladder", [1, None])
def test_while_others_wait_one_match_of_all_placements_is_queued(
    workers: int, ladder: int | None
) -> None:
    bots = [placing(bot, due=80) for bot in range(5)]
    waiting = other(100, workers, ladder=ladder)
    queueing.note_taken("play")
    rooms = dict(match_queue._rooms([*bots, waiting]))
    assert rooms.pop(waiting) > 0
    assert list(rooms.values()) == [1]
    queueing.note_taken("placement")
    assert list(dict(match_queue._rooms([*bots, waiting]))) == [waiting]


@pytest.mark.parametrize(
    "held", [[placing(0, due=80, playing=3)], [placing(0, due=80), placing(1, queued=1)]]
)
def test_placements_that_hold_their_part_get_no_more(held: list[match_queue._Group]) -> None:
    queueing.note_taken("play")
    waiting = other(100, 3)
    assert [group for group, _ in match_queue._rooms([*held, waiting])] == [waiting]


def test_the_bot_with_the_least_in_play_comes_first() -> None:
    queueing.note_taken("play")
    bots = [placing(0, due=80, playing=1), placing(1, due=80)]
    rooms = dict(match_queue._rooms([*bots, other(100, 4)]))
    assert (rooms.get(bots[0], 0), rooms[bots[1]]) == (0, 1)


def test_with_nothing_else_to_play_placements_share_the_queue() -> None:
    bots = [placing(0, due=80, queued=3), placing(1, due=80)]
    assert dict(match_queue._rooms(bots)) == {bots[0]: AHEAD - 3, bots[1]: AHEAD}


def challenging(owner: int, due: int = 0, queued: int = 0, playing: int = 0) -> match_queue._Group:
    return match_queue._Group(None, None, False, due, queued, playing, challenger=owner)


def test_challenges_take_turns_with_placement_and_leave_half_of_the_workers_to_others() -> None:
    queueing.note_taken("play")
    many, few, waiting = challenging(1, due=9, playing=1), placing(2, due=80), other(100, 4)
    assert dict(match_queue._rooms([many, few, waiting])).keys() == {few, waiting}
    few = placing(2, due=80, playing=1)
    assert dict(match_queue._rooms([many._replace(playing=0), few, waiting])).keys() == {
        many._replace(playing=0),
        waiting,
    }
    held = [challenging(1, due=9, playing=2), placing(2, due=80, playing=1), other(100, 3)]
    assert dict(match_queue._rooms(held)).keys() == {held[2]}


def test_of_groups_with_the_same_in_play_each_is_drawn_at_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(match_queue, "_LOT", Random(0))
    groups = [challenging(1, due=9), placing(2, due=80), other(100, 2)]
    drawn: set[match_queue._Group] = set()
    for _ in range(20):
        queueing.note_taken("play")
        drawn.update(dict(match_queue._rooms(groups)))
    assert drawn == set(groups)


def test_an_owner_with_three_challenges_has_one_share() -> None:
    ada, eve = User.objects.create_user("ada"), User.objects.create_user("eve")
    small.ladder()
    small.bots(2)
    for owner, count in ((ada, 3), (eve, 1)):
        [bot] = small.bots(1, owner=owner, prefix=owner.username)
        for _ in range(count):
            competitions.challenge(owner=owner, bot=bot.name, opponents=["bot-0", "bot-1"])
    [*groups] = match_queue._groups()
    assert sorted((group.challenger, group.due) for group in groups) == [(ada.pk, 9), (eve.pk, 3)]
    claimed = play.claim_due_hosted()
    assert play.played_first(claimed) == set(claimed)
    owners = Match.objects.in_bulk(claimed)
    first = [owners[pk].challenge.bot.owner_id for pk in claimed[:6]]
    assert first.count(ada.pk) == first.count(eve.pk) == 3

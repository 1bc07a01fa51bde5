"""The match queue's shares of placement and of other matches."""

import pytest

from league import queueing
from league.play import match_queue
from league.play.match_queue import AHEAD

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

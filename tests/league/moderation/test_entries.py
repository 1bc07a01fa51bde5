"""What an organiser decides on entries, and the tables that follow from it."""

from collections import Counter
from itertools import combinations

import pytest
from django.contrib.auth.models import User

from league import competitions, moderation
from league.competitions.history import Assumed, History, history_of
from league.models import Block, Bye, Tournament
from league.moderation import previews
from tests.league import small
from tests.league.competitions.events import again, entered_by, late_bot, play_round, tables

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_bot_reinstated_after_the_start_changes_no_table_of_a_round_robin(rounds: int) -> None:
    organiser = User.objects.create(username="olga", is_staff=True)
    bots = small.bots(7)
    event = entered_by(bots, seats=2, format="round-robin")
    moderation.disqualify(tournament=again(event), bot=bots[0], reason="why", made_by=organiser)
    for _ in range(rounds):
        competitions.advance_tournament(event.pk)
        play_round()
    moderation.reinstate(tournament=again(event), bot=bots[0], made_by=organiser)
    small.run_all()
    pairs = sorted(tuple(sorted(table)) for table in tables(event))
    assert pairs == sorted(combinations(sorted(bot.pk for bot in bots), 2))


def test_a_bot_that_comes_back_changes_no_table_of_a_late_entrant() -> None:
    bots = small.bots(6)
    event = entered_by(bots, seats=3, format="round-robin", blocks_per_table=2)
    Tournament.objects.update(seed=bytes([1]) * 32)
    competitions.advance_tournament(event.pk)
    competitions.withdraw(tournament=again(event), bot=bots[0])
    late = late_bot()
    competitions.enter(tournament=again(event), bot=late, by_organiser=True)
    opened = 1
    while event.rounds.filter(blocks__bots__bot=late).count() < 2:
        play_round()
        competitions.advance_tournament(event.pk)
        opened += 1
    competitions.enter(tournament=again(event), bot=bots[0], by_organiser=True)
    assert event.entries.get(bot=bots[0]).missed_rounds == [*range(2, opened + 1)]
    small.run_all()
    drawn = Counter(map(tuple, tables(event)))
    stayed = sorted(bot.pk for bot in bots[1:])
    assert {of for of in drawn if len(of) == 3} >= {
        *combinations(stayed, 3),
        *((*pair, late.pk) for pair in combinations(stayed, 2)),
    }
    assert {drawn[of] for of in drawn if len(of) == 3} == {2}  # the blocks of a table


def test_a_deleted_bot_that_is_reinstated_is_no_late_entrant() -> None:
    organiser = User.objects.create(username="olga", is_staff=True)
    [gone] = small.bots(1, owner=User.objects.create(username="ada"), prefix="swan")
    event = entered_by([*small.bots(5), gone], seats=2, format="round-robin")
    moderation.disqualify(tournament=again(event), bot=gone, reason="why", made_by=organiser)
    competitions.advance_tournament(event.pk)
    competitions.delete_bot(gone)
    moderation.reinstate(tournament=again(event), bot=gone, made_by=organiser)
    small.run_all()
    assert event.entries.get(bot=gone).state == "withdrawn"
    assert not Bye.objects.filter(round__tournament=event).exists()


def test_the_preview_of_a_return_says_if_the_bot_stays_withdrawn() -> None:
    organiser = User.objects.create(username="olga", is_staff=True)
    bots = small.bots(5)
    event = entered_by(bots, seats=2, format="round-robin")
    competitions.advance_tournament(event.pk)
    competitions.withdraw(tournament=again(event), bot=bots[0])
    for bot in bots[:2]:
        moderation.disqualify(tournament=again(event), bot=bot, reason="why", made_by=organiser)
    [gone], [back] = (
        moderation.preview_disqualification(again(event), bot).notes for bot in bots[:2]
    )
    assert gone == "It gets its rank back. It plays in no later stage: it has withdrawn."
    assert back == "It gets its rank back, and it can play in later stages again."


def test_the_preview_of_a_return_seats_no_deleted_bot() -> None:
    organiser = User.objects.create(username="olga", is_staff=True)
    [gone] = small.bots(1, owner=User.objects.create(username="ada"), prefix="swan")
    event = entered_by([*small.bots(3), gone], seats=2, format="knockout")
    competitions.advance_tournament(event.pk)
    moderation.disqualify(tournament=again(event), bot=gone, reason="why", made_by=organiser)
    competitions.delete_bot(gone)
    gone.refresh_from_db()
    [note] = moderation.preview_disqualification(again(event), gone).notes
    assert note == "It gets its rank back. It plays in no later stage: it is deleted."
    assumed = Assumed(reinstated=frozenset([gone.pk]))
    [then] = [one for one in history_of(again(event), assumed).entrants if one.bot == gone.pk]
    moderation.reinstate(tournament=again(event), bot=gone, made_by=organiser)
    [now] = [one for one in history_of(again(event)).entrants if one.bot == gone.pk]
    assert then == now


def test_a_bot_that_enters_during_a_preview_is_no_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bots = small.bots(5)
    event = entered_by(bots[:4], seats=3, late_entry=True)
    competitions.advance_tournament(event.pk)
    play_round()
    read = history_of

    def entered_after(tournament: Tournament, *assumed: Assumed) -> History:
        found = read(tournament, *assumed)
        competitions.enter(tournament=again(event), bot=bots[4], by_organiser=True)
        return found

    monkeypatch.setattr(previews, "history_of", entered_after)
    preview = moderation.preview_void(Block.objects.earliest("pk"))
    assert preview.places
    assert bots[4] not in [row.bot for row in preview.places]

"""Quarantine: no new match, no entry, its end by the clock, and owners can't lift it."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from engine.pairing import Table
from league import bots, competitions, moderation, play, ratings, tasks
from league.competitions.next_block import describe_next_block
from league.models import (
    Block,
    Bot,
    Comparison,
    Ladder,
    Match,
    ModerationEntry,
    Quarantine,
    Tournament,
)
from league.moderation import quarantines
from league.play.unrated_matches import invite
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def olga(db: None) -> User:
    return User.objects.create(username="olga", is_staff=True)


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create(username="ada")


@pytest.fixture
def ladder(ada: User) -> Ladder:
    """A ladder with three house bots and a bot of Ada's."""
    ladder = small.ladder()
    Ladder.objects.update(idle_pause_seconds=0)
    for bot in [*small.bots(3), *small.bots(1, owner=ada, prefix="ada")]:
        competitions.enter_ladder(ladder=ladder, bot=bot)
    return ladder


@pytest.fixture
def bot(ladder: Ladder) -> Bot:
    return Bot.objects.get(name="ada-0")


def drawn(ladder: Ladder) -> set[str]:
    """Return the bots of a new round, after playing it."""
    round_ = competitions.open_ladder_round(ladder.pk)
    assert round_ is not None
    small.run_once()
    return set(Bot.objects.filter(blocks__block__round=round_).values_list("name", flat=True))


def code_of(error: pytest.ExceptionInfo[ValidationError]) -> str | None:
    return error.value.code


@pytest.mark.parametrize("of", ["bot", "account"])
def test_no_round_draws_a_bot_in_quarantine(
    ladder: Ladder, bot: Bot, ada: User, olga: User, of: str
) -> None:
    assert "ada-0" in drawn(ladder)
    if of == "bot":
        moderation.quarantine_bot(bot=bot, reason="scans the network", made_by=olga)
    else:
        moderation.quarantine_account(account=ada, reason="scans the network", made_by=olga)
    assert drawn(ladder) == {"bot-0", "bot-1", "bot-2"}
    if of == "bot":
        moderation.lift_bot_quarantine(bot=bot, made_by=olga)
    else:
        moderation.lift_account_quarantine(account=ada, made_by=olga)
    assert bot in Bot.objects.playable()


def test_a_bot_that_an_account_in_quarantine_creates_later_is_in_quarantine_too(
    ada: User, olga: User
) -> None:
    moderation.quarantine_account(account=ada, reason="spam", made_by=olga)
    bot, _ = bots.create_bot(owner=ada, name="newer-bot", kind="remote")
    assert bot not in Bot.objects.playable()


def test_a_quarantine_ends_by_the_clock_without_a_tick(bot: Bot, olga: User) -> None:
    ends_at = timezone.now() + timedelta(hours=1)
    made = moderation.quarantine_bot(bot=bot, reason="scans", ends_at=ends_at, made_by=olga)
    assert bot not in Bot.objects.playable()
    assert not Quarantine.objects.active(ends_at).exists()
    Quarantine.objects.filter(pk=made.pk).update(ends_at=timezone.now() - timedelta(seconds=1))
    assert bot in Bot.objects.playable()
    competitions.leave_ladder(ladder=Ladder.objects.get(), bot=bot)
    competitions.enter_ladder(ladder=Ladder.objects.get(), bot=bot)


def test_a_bot_in_quarantine_enters_nothing(
    ladder: Ladder, bot: Bot, ada: User, olga: User
) -> None:
    competitions.leave_ladder(ladder=ladder, bot=bot)
    tournament = competitions.announce_tournament(
        title="Cup", ladder=ladder, starts_at=timezone.now() + timedelta(hours=1)
    )
    competitions.advance_tournament(tournament.pk)
    until = timezone.now() + timedelta(days=1)
    moderation.quarantine_bot(bot=bot, reason="scans the net", ends_at=until, made_by=olga)
    calls: list[Any] = [
        lambda: competitions.enter_ladder(ladder=ladder, bot=bot),
        lambda: competitions.enter(tournament=tournament, bot=bot),
        lambda: competitions.compare(bot=bot, ladder=ladder, new=1, old=1),
        lambda: invite(
            owner=ada, game="twelve-days", rules="eight-nights", bots=["ada-0", "bot-0", "bot-1"]
        ),
    ]
    for call in calls:
        with pytest.raises(ValidationError, match="scans the net") as error:
            call()
        assert code_of(error) == "quarantined"
        assert f"{until:%Y-%m-%d %H:%M}" in error.value.messages[0]


def test_blocks_that_have_not_begun_become_void_and_matches_in_play_go_on(
    ladder: Ladder, bot: Bot, olga: User
) -> None:
    first = competitions.open_ladder_round(ladder.pk)
    assert first is not None
    begun = first.blocks.get(bots__bot=bot)
    match = begun.matches.order_by("number").first()
    assert match is not None
    play.play_match(match.pk, players=small.players)
    tournament = competitions.announce_tournament(
        title="Cup", ladder=ladder, starts_at=timezone.now() + timedelta(hours=1)
    )
    competitions.advance_tournament(tournament.pk)
    competitions.enter(tournament=tournament, bot=bot)
    Tournament.objects.update(starts_at=timezone.now())
    competitions.advance_tournament(tournament.pk)
    waiting = Block.objects.filter(round__tournament=tournament, bots__bot=bot)
    others = Block.objects.filter(round__tournament=tournament).exclude(bots__bot=bot)
    untouched = list(others.values_list("pk", flat=True))
    moderation.quarantine_bot(bot=bot, reason="secret reason", made_by=olga)
    begun.refresh_from_db()
    assert begun.state == "playing"
    assert waiting.count() == 3
    assert not waiting.filter(state="playing").exists()
    assert not waiting.filter(void_reason__contains="secret").exists()
    states = Block.objects.filter(pk__in=untouched).values_list("state", flat=True)
    assert set(states) == {"playing"}
    small.run_all()
    begun.refresh_from_db()
    assert begun.state == "finished"
    assert ratings.recompute(ladder) == []


def test_a_remote_bot_in_quarantine_gets_no_new_match(
    ladder: Ladder, ada: User, olga: User
) -> None:
    remote, _ = bots.create_bot(owner=ada, name="ada-remote", kind="remote")
    Bot.objects.filter(pk=remote.pk).update(seen_at=timezone.now())
    Bot.objects.filter(name="ada-0").update(paused=True)
    competitions.enter_ladder(ladder=ladder, bot=remote)
    while True:
        round_ = competitions.open_ladder_round(ladder.pk)
        assert round_ is not None
        if round_.blocks.filter(bots__bot=remote).exists():
            break
        small.run_once()
    moderation.quarantine_bot(bot=remote, reason="floods", made_by=olga)
    for match_id in play.claim_due_live():
        play.open_live(match_id)
    assert not Match.objects.playing().filter(seating__bot=remote).exists()


def test_unrated_matches_and_comparisons_of_the_bot_end(
    ladder: Ladder, bot: Bot, ada: User, olga: User
) -> None:
    match = invite(
        owner=ada, game="twelve-days", rules="eight-nights", bots=["ada-0", "bot-0", "bot-1"]
    )
    bot.versions.create(number=2)
    comparison = competitions.compare(bot=bot, ladder=ladder, new=2, old=1)
    moderation.quarantine_bot(bot=bot, reason="floods", made_by=olga)
    match.refresh_from_db()
    comparison.refresh_from_db()
    assert (match.status, comparison.state) == ("void", "cancelled")


def test_what_a_killed_process_left_waiting_becomes_void_in_upkeep(
    ladder: Ladder, bot: Bot, ada: User, olga: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_ = competitions.open_ladder_round(ladder.pk)
    assert round_ is not None
    block = round_.blocks.get(bots__bot=bot)
    match = invite(
        owner=ada, game="twelve-days", rules="eight-nights", bots=["ada-0", "bot-0", "bot-1"]
    )
    with monkeypatch.context() as patch:
        patch.setattr(quarantines, "_stop_new_matches", lambda *_: None)
        moderation.quarantine_bot(bot=bot, reason="floods", made_by=olga)
    assert moderation.bots_to_stop() == [bot.pk]
    tasks.upkeep()
    block.refresh_from_db()
    match.refresh_from_db()
    assert (block.state, match.status) == ("void", "void")
    mark = block.void_marks.get()
    assert mark.made_by == olga
    assert mark.decision == ModerationEntry.objects.get()
    assert moderation.bots_to_stop() == []


def test_a_block_that_is_drawn_during_a_quarantine_stays(
    ladder: Ladder, bot: Bot, olga: User
) -> None:
    held = moderation.quarantine_bot(bot=bot, reason="floods", made_by=olga)
    Quarantine.objects.filter(pk=held.pk).update(begun_at=timezone.now() - timedelta(minutes=1))
    ids = sorted(Bot.objects.values_list("pk", flat=True))
    table = Table(tuple(sorted([bot.pk, *[pk for pk in ids if pk != bot.pk][:2]])), True)
    round_ = competitions.open_round(ladder=ladder, tables=[table], seed=bytes(32))
    moderation.stop_new_matches(bot.pk)
    assert round_.blocks.get().state == "playing"


def test_waiting_swap_blocks_with_the_bot_as_opponent_become_void(
    ladder: Ladder, bot: Bot, olga: User
) -> None:
    bot.versions.create(number=2)
    comparison = competitions.compare(bot=bot, ladder=ladder, new=2, old=1)
    # The seed draws the opponents: with this one, bot-0 sits in some of the blocks, not in all.
    Comparison.objects.filter(pk=comparison.pk).update(seed=bytes(32))
    competitions.advance_comparison(comparison.pk)
    opponent = Bot.objects.get(name="bot-0")
    met = Match.objects.of_comparisons().filter(seating__bot=opponent)
    begun = met.earliest("pk")
    play.play_match(begun.pk, players=small.players)
    moderation.quarantine_bot(bot=opponent, reason="broken", made_by=olga)
    assert set(met.exclude(swap_block=begun.swap_block).values_list("status", flat=True)) == {
        "void"
    }
    left = met.filter(swap_block=begun.swap_block).values_list("status", flat=True)
    assert set(left) == {"finished", "waiting"}
    others = Match.objects.of_comparisons().exclude(pk__in=met.values("pk"))
    assert set(others.values_list("status", flat=True)) == {"waiting"}
    comparison.refresh_from_db()
    assert comparison.state == "running"


def test_the_pause_of_the_owner_and_the_quarantine_are_separate(bot: Bot, olga: User) -> None:
    moderation.quarantine_bot(bot=bot, reason="floods", made_by=olga)
    bots.change_bot(bot, paused=False)
    assert bot not in Bot.objects.playable()
    bots.change_bot(bot, paused=True)
    moderation.lift_bot_quarantine(bot=bot, made_by=olga)
    bot.refresh_from_db()
    assert bot.paused
    assert bot not in Bot.objects.playable()


def test_a_tournament_leaves_a_bot_in_quarantine_out_of_its_rounds(
    ladder: Ladder, olga: User
) -> None:
    house = Bot.objects.get(name="bot-0")
    small.bots(3, prefix="more")
    tournament = small.tournament(ladder, format="swiss", swiss_rounds=3)
    competitions.advance_tournament(tournament.pk)
    small.play_due()
    moderation.quarantine_bot(bot=house, reason="broken", made_by=olga)
    small.run_all()
    rounds = Block.objects.filter(round__tournament=tournament, bots__bot=house)
    assert set(rounds.values_list("round__stage", flat=True)) == {1}


def test_the_reason_and_the_end_can_change_and_the_log_has_each_decision(
    bot: Bot, olga: User
) -> None:
    first = moderation.quarantine_bot(bot=bot, reason="floods", made_by=olga)
    moderation.quarantine_bot(bot=bot, reason="floods twice", made_by=olga, seen=first.pk)
    with pytest.raises(ValidationError, match=r"stored: “floods twice”.*Yours: “mine”") as error:
        moderation.quarantine_bot(bot=bot, reason="mine", made_by=olga, seen=first.pk)
    assert code_of(error) == "changed-meanwhile"
    with pytest.raises(ValidationError, match="stored: “floods twice”") as error:
        moderation.lift_bot_quarantine(bot=bot, made_by=olga, seen=first.pk)
    assert code_of(error) == "changed-meanwhile"
    moderation.lift_bot_quarantine(bot=bot, reason="it behaves", made_by=olga)
    with pytest.raises(ValidationError, match="is not in quarantine"):
        moderation.lift_bot_quarantine(bot=bot, made_by=olga)
    rows = ModerationEntry.objects.order_by("pk")
    assert [(row.action, row.subject, row.reason) for row in rows] == [
        ("quarantine", "bot ada-0", "floods"),
        ("quarantine", "bot ada-0", "floods twice"),
        ("lift-quarantine", "bot ada-0", "it behaves"),
    ]
    assert Quarantine.objects.count() == 2


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"reason": " "}, "reason"),
        ({"reason": "x" * 501}, "reason"),
        ({"reason": "x", "ends_at": timezone.now() - timedelta(days=1)}, "ends_at"),
    ],
)
def test_a_quarantine_needs_a_reason_and_an_end_to_come(
    bot: Bot, sent: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as error:
        moderation.quarantine_bot(bot=bot, made_by=None, **sent)
    assert field in error.value.message_dict
    assert not Quarantine.objects.exists()


def test_a_bots_page_sentence_names_the_quarantine(ladder: Ladder, bot: Bot, olga: User) -> None:
    drawn(ladder)
    moderation.quarantine_bot(bot=bot, reason="floods", made_by=olga)
    sentence = describe_next_block(ladder.standings.get(bot=bot))
    assert sentence == (
        "It is in quarantine, so it gets no new matches. A rank needs 20 blocks; finished: 1, in "
        "play: 0, waiting to begin: 0, not planned yet: 19."
    )

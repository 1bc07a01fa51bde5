"""Challenges: one unrated block against bots that an owner names, played ahead of rated ones."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone
from pytest_django import Settings

from league import bots, competitions, play
from league.competitions import challenges
from league.models import Bot, BotVersion, Challenge, Match, QualifyingMatch
from league.moderation.quarantines import quarantine_bot
from league.play.spectating import feed_states
from league.visibility import may_see_record, may_watch
from tests.league import small

pytestmark = pytest.mark.django_db
HOUSE = ["bot-0", "bot-1", "bot-2"]


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def eve() -> User:
    return User.objects.create_user("eve")


@pytest.fixture
def mine(ada: User) -> Bot:
    """A hosted bot of Ada's beside three house bots and a ladder for three."""
    small.ladder()
    small.bots(3)
    return small.bots(1, owner=ada, prefix="ada")[0]


def start(owner: User, *opponents: str, bot: str = "ada-0", **what: str) -> Challenge:
    """Challenge two house bots, or some opponents."""
    return competitions.challenge(owner=owner, bot=bot, opponents=opponents or HOUSE[:2], **what)


def refusal(owner: User, *opponents: str, **what: str) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        start(owner, *opponents, **what)
    assert not Match.objects.exists()
    return caught.value


def test_a_spectator_is_shown_no_match_of_a_deal_that_is_still_in_play(
    ada: User, mine: Bot
) -> None:
    """Otherwise the gateway reads such a match again each second, and finds no events."""
    made = start(ada)
    first, *others = made.matches.order_by("number").values_list("pk", flat=True)
    assert made.duplicate
    play.play_match(first, players=small.players)
    assert feed_states([first, *others]) == {}
    for match_id in others:
        play.play_match(match_id, players=small.players)
    assert feed_states([first, *others]).keys() == {first, *others}


def test_a_challenge_is_one_block_on_one_deal_that_rates_nobody(ada: User, mine: Bot) -> None:
    made = start(ada)
    matches = list(made.matches.order_by("number"))
    assert [match.number for match in matches] == [0, 1, 2]
    assert len({bytes(match.deal_seed) for match in matches}) == 1
    for seat in range(3):
        sitting = {match.seating.get(seat=seat).bot.name for match in matches}
        assert sitting == {"ada-0", "bot-0", "bot-1"}
    assert challenges.result(made).state == "waiting"
    small.play_due()
    result = challenges.result(made)
    assert (result.state, result.finished) == ("finished", 3)
    assert [pair.opponent for pair in result.pairs] == ["bot-0", "bot-1"]
    assert result.win_share == pytest.approx(sum(pair.share for pair in result.pairs) / 2)
    assert all(0 <= pair.low <= pair.share <= pair.high <= 1 for pair in result.pairs)
    assert not mine.standings.exists()


def test_the_deal_of_a_challenge_is_secret_until_its_last_match_is_over(
    ada: User, mine: Bot
) -> None:
    made = start(ada)
    first, *others = play.claim_due_hosted()
    play.play_match(first, players=small.players)
    assert not may_see_record(Match.objects.get(pk=first))
    assert not any(may_watch(match) for match in made.matches.all())
    assert challenges.result(made).pairs == []
    for match_id in others:
        play.play_match(match_id, players=small.players)
    assert all(may_see_record(match) for match in made.matches.all())


def test_a_challenge_with_a_remote_bot_has_a_deal_for_each_match(ada: User, mine: Bot) -> None:
    remote, _ = bots.create_bot(owner=ada, name="far-away", kind="remote")
    Bot.objects.filter(pk=remote.pk).update(seen_at=timezone.now())
    made = start(ada, "bot-0", "bot-1", bot="far-away")
    assert len({bytes(match.deal_seed) for match in made.matches.all()}) == 3
    assert all(match.live and may_watch(match) for match in made.matches.all())


def test_game_and_clocks_are_those_of_the_ladder_that_the_bot_is_on(ada: User, mine: Bot) -> None:
    other = small.ladder("a-pair", seats=2)
    made = start(ada)
    assert (made.game, made.rules) == ("twelve-days", "eight-nights")
    other.move_seconds = 0.25
    other.save()
    competitions.enter_ladder(ladder=other, bot=mine)
    made = start(ada)
    assert (made.game, made.rules) == ("partridge", "eagle-short")
    assert {match.move_seconds for match in made.matches.all()} == {0.25}


def test_a_bot_that_plays_one_game_only_is_challenged_at_that_game(ada: User, mine: Bot) -> None:
    assert mine.current is not None
    for game, passed in (("twelve-days", False), ("partridge", True)):
        QualifyingMatch.objects.create(
            version=mine.current, game=game, passed=passed, reason="it crashed"
        )
    assert start(ada).game == "partridge"
    with pytest.raises(ValidationError) as caught:
        start(ada, game="twelve-days")
    assert caught.value.code == "not-qualified"


@pytest.mark.parametrize(
    ("what", "field", "words"),
    [
        ({"game": "chess"}, "game", "there is no game 'chess'"),
        ({"game": "partridge", "rules": "calliope"}, "rules", "has no preset 'calliope'"),
        ({"rules": "calliope"}, "game", "Give `game` too"),
    ],
)
def test_an_unknown_game_or_preset_is_an_error_of_its_field(
    ada: User, mine: Bot, what: dict[str, str], field: str, words: str
) -> None:
    assert words in refusal(ada, **what).message_dict[field][0]


def test_a_wrong_number_of_bots_is_refused_with_the_numbers_that_fit(ada: User, mine: Bot) -> None:
    few = refusal(ada, "bot-0", game="twelve-days", rules="calliope").message_dict["opponents"]
    assert few == [
        "twelve-days calliope takes 3 to 5 bots, and you named 2, your bot included. Name 2 to 4 "
        "opponents."
    ]
    few = refusal(ada, "bot-0", game="twelve-days").message_dict["opponents"]
    assert "takes 3 to 8 bots" in few[0]
    small.bots(9, prefix="more")
    many = refusal(ada, *(f"more-{number}" for number in range(9))).message_dict["opponents"]
    assert "has 10 seats" in many[0]


def test_too_few_bots_for_the_one_game_that_a_bot_plays_are_refused_with_its_number(
    ada: User, mine: Bot
) -> None:
    assert mine.current is not None
    for game, passed in (("twelve-days", True), ("partridge", False)):
        QualifyingMatch.objects.create(
            version=mine.current, game=game, passed=passed, reason="it crashed"
        )
    few = refusal(ada, "bot-0").message_dict["opponents"]
    assert few == [
        "The one game that all these bots play, `twelve-days`, takes 3 to 8 bots, and you named 2, "
        "your bot included. Name 2 to 7 opponents."
    ]


def test_unknown_renamed_and_repeated_bots_are_named(ada: User, mine: Bot) -> None:
    bots.change_bot(mine, name="ada-new")
    wrong = refusal(ada, bot="ada-0").message_dict["bot"]
    assert wrong == ["There is no bot ada-0. The bot ada-0 is called ada-new now."]
    assert refusal(ada, "nemo", bot="ada-new").message_dict["opponents"] == [
        "There is no bot nemo."
    ]
    assert refusal(ada, "bot-00", bot="ada-new").message_dict["opponents"] == [
        "There is no bot bot-00. Did you mean bot-0?"
    ]
    twice = refusal(ada, "bot-0", "bot-0", bot="ada-new").message_dict["opponents"]
    assert twice == ["bot-0 is named twice; each bot has one seat."]


def test_bots_that_cant_play_now_are_refused_with_the_reason(
    ada: User, eve: User, mine: Bot
) -> None:
    other = small.bots(1, owner=eve, prefix="eve")[0]

    def code() -> str | None:
        return refusal(ada, "eve-0", "bot-0").code

    assert refusal(eve, "bot-0", "bot-1").code == "not-your-bot"
    bots.change_bot(other, paused=True)
    assert code() == "bot-paused"
    bots.change_bot(other, paused=False)
    quarantined = quarantine_bot(bot=other, reason="a look at its moves")
    assert code() == "quarantined"
    assert "moves" not in challenges.challengeable(other)  # the reason is for its owner alone
    assert "a look at its moves" not in refusal(ada, "eve-0", "bot-0").message
    quarantined.delete()
    Bot.objects.filter(pk=other.pk).update(current=None)
    assert code() == "no-version"
    Bot.objects.filter(pk=other.pk).update(current=other.current, kind="remote")
    assert code() == "bot-offline"
    bots.retire(other, timezone.now())
    assert "opponents" in refusal(ada, "eve-0", "bot-0").message_dict


def test_only_its_owner_learns_why_a_bot_did_not_qualify(ada: User, eve: User, mine: Bot) -> None:
    other = small.bots(1, owner=eve, prefix="eve")[0]
    assert other.current is not None
    QualifyingMatch.objects.create(
        version=other.current, game="partridge", passed=False, reason="KeyError: 'my secret'"
    )
    theirs = refusal(ada, "eve-0", "bot-0", game="partridge")
    assert (theirs.code, theirs.message) == (
        "not-qualified",
        "eve-0 does not play 12 Days of Christmas; choose another bot.",
    )
    own = refusal(eve, "bot-0", "bot-1", bot="eve-0", game="partridge")
    assert "my secret" in own.message


@pytest.mark.parametrize("change", ["deleted", "promoted", "paused"])
def test_a_bot_that_changes_meanwhile_is_not_challenged(
    ada: User, eve: User, mine: Bot, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = small.bots(1, owner=eve, prefix="eve")[0]
    chosen = challenges._setting

    def then_change(*args: Any) -> Any:
        if change == "deleted":
            bots.retire(other, timezone.now())
        elif change == "promoted":
            bots.promote(BotVersion.objects.create(bot=other, number=2, state="ready"))
        else:
            bots.change_bot(other, paused=True)
        return chosen(*args)

    monkeypatch.setattr(challenges, "_setting", then_change)
    code = "bot-paused" if change == "paused" else "changed-meanwhile"
    assert refusal(ada, "eve-0", "bot-0").code == code


def test_an_owner_decides_who_may_challenge_a_bot_and_how_often(
    ada: User, eve: User, mine: Bot
) -> None:
    other, own = small.bots(2, owner=eve, prefix="eve")
    bots.change_bot(other, challenges_from="nobody")
    assert refusal(ada, "eve-0", "bot-0").code == "challenges-refused"
    start(eve, "eve-0", "bot-0", bot=own.name)  # an owner may
    small.play_due()
    bots.change_bot(other, challenges_from="anyone", max_challenges_per_day=1)
    first = start(ada, "eve-0", "bot-0")  # the owner's own did not count
    with pytest.raises(ValidationError, match="as many as its owner allows") as caught:
        start(ada, "eve-0", "bot-0")
    assert caught.value.code == "too-many-challenges"
    Challenge.objects.filter(pk=first.pk).update(created_at=timezone.now() - timedelta(hours=25))
    start(ada, "eve-0", "bot-0")


def test_an_owner_has_a_few_open_challenges_and_some_a_day(
    ada: User, mine: Bot, settings: Settings
) -> None:
    settings.MAX_CHALLENGES_PER_DAY = challenges.MAX_OPEN + 1
    for _ in range(challenges.MAX_OPEN):
        start(ada)
    with pytest.raises(ValidationError) as caught:
        start(ada)
    assert caught.value.code == "too-many-matches"
    small.play_due()
    start(ada)  # the one that was refused did not count
    with pytest.raises(ValidationError) as caught:
        start(ada)
    assert caught.value.code == "too-many-challenges"


def test_if_one_match_becomes_void_the_challenge_is_void(ada: User, mine: Bot) -> None:
    made = start(ada)
    play.play_match(made.matches.get(number=0).pk, players=small.players)
    play.void_match(made.matches.get(number=1), "The worker died.")
    assert {match.status for match in made.matches.all()} <= {"void", "finished"}
    result = challenges.result(made)
    assert (result.state, result.win_share, result.pairs) == ("void", None, [])


@pytest.mark.django_db(transaction=True)
def test_a_quarantine_voids_a_challenge_that_has_not_begun(ada: User, mine: Bot) -> None:
    made = start(ada)
    begun = start(ada)
    Match.objects.filter(pk=begun.matches.get(number=0).pk).update(status="playing")
    quarantine_bot(bot=mine, reason="a look at its moves")
    assert challenges.result(made).state == "void"
    assert challenges.result(begun).state == "playing"


def test_a_new_version_plays_no_open_challenge(ada: User, mine: Bot) -> None:
    made = start(ada)
    mine.current = BotVersion.objects.create(bot=mine, number=2)
    mine.save()
    versions = {match.seating.get(bot=mine).version.number for match in made.matches.all()}
    assert versions == {1}

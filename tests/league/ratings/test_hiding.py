"""Bots that are idle or have left a ladder are hidden: nothing else about them changes."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import Sum
from django.test import Client
from django.utils import timezone

from league import competitions, play, ratings, tasks
from league.models import BlockEntry, Bot, Fit, Ladder, RoundEntry, Standing, Withdrawal
from league.ratings.hiding import hide_idle, ladders_to_hide_on
from league.ratings.standings import find_bots, standing_rows, standings_in_order
from tests.league import small
from tests.web.test_admin import form_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ladder() -> Ladder:
    """A ladder with five bots on it, rated in its first round."""
    ladder = small.ladder()
    Ladder.objects.update(idle_pause_seconds=0)
    for bot in small.bots(5):
        competitions.enter_ladder(ladder=ladder, bot=bot)
    play_round(ladder)
    ladder.refresh_from_db()
    return ladder


def play_round(ladder: Ladder) -> None:
    assert competitions.open_ladder_round(ladder.pk) is not None
    small.run_all()


def numbers() -> list[object]:
    """Return all that ratings are."""
    return [
        list(Standing.objects.order_by("bot").values_list("bot", "rating", "blocks", "version")),
        list(RoundEntry.objects.order_by("pk").values()),
        list(BlockEntry.objects.order_by("pk").values()),
    ]


def last_active(days: float, *names: str) -> None:
    Standing.objects.filter(bot__name__in=names).update(
        active_at=timezone.now() - timedelta(days=days)
    )


def shown(ladder: Ladder, *, hidden: bool = False) -> list[tuple[str, int | None, str]]:
    rows = standing_rows(ladder, list(standings_in_order(ladder, hidden=hidden)))
    return [(row.standing.bot.name, row.rank, row.standing.hidden) for row in rows]


def fit_due() -> int:
    return sum(ratings.fit_round(round_id) for round_id in ratings.take_fits())


def test_a_bot_unrated_for_idle_days_is_hidden_and_nothing_else_changes(
    ladder: Ladder,
) -> None:
    assert ladder.idle_days == 14
    before = numbers()
    last_active(13.99, "bot-1")
    assert ladders_to_hide_on() == []
    assert hide_idle(ladder.pk) == 0
    last_active(14, "bot-2", "bot-3")
    assert ladders_to_hide_on() == [ladder.pk]
    assert hide_idle(ladder.pk) == 2
    assert ladders_to_hide_on() == []
    assert hide_idle(ladder.pk) == 0
    assert {name for name, _, _ in shown(ladder)} == {"bot-0", "bot-1", "bot-4"}
    assert numbers() == before
    assert ratings.recompute(ladder) == []
    assert ladder.standings.aggregate(sum=Sum("rating"))["sum"] == 5 * 1_500_000


def test_each_ladder_has_its_idle_days_and_more_days_show_bots_again(ladder: Ladder) -> None:
    last_active(3, "bot-2")
    Ladder.objects.update(idle_days=2)
    assert hide_idle(ladder.pk) == 1
    Ladder.objects.update(idle_days=4)
    assert ladders_to_hide_on() == [ladder.pk]
    assert hide_idle(ladder.pk) == 1
    assert not ladder.standings.exclude(hidden="").exists()


def test_no_bot_becomes_idle_on_a_paused_ladder(ladder: Ladder) -> None:
    last_active(15, "bot-2")
    Ladder.objects.update(paused=True)
    assert ladders_to_hide_on() == []
    assert hide_idle(ladder.pk) == 0


def test_after_a_pause_the_idle_days_begin_again_for_shown_bots(ladder: Ladder) -> None:
    last_active(15, "bot-1")
    hide_idle(ladder.pk)
    Ladder.objects.update(paused=True)
    last_active(15, "bot-2", "bot-3", "bot-4")
    organiser = User.objects.create_superuser("olga")
    client = Client()
    client.force_login(organiser)
    path = f"/admin/league/ladder/{ladder.pk}/change/"
    sent = {**form_of(client, path), "k_schedule": "{}"}
    del sent["paused"]
    assert client.post(path, sent).status_code == 302
    assert not Ladder.objects.get().paused
    assert ladders_to_hide_on() == []
    assert {name for name, _, _ in shown(ladder)} == {"bot-0", "bot-2", "bot-3", "bot-4"}


def test_only_shown_bots_have_ranks_and_hidden_bots_are_listed_last(
    ladder: Ladder,
) -> None:
    for number, bot in enumerate(Bot.objects.order_by("name")):
        Standing.objects.filter(bot=bot).update(
            rating=1_600_000 - number * 1000, blocks=small.RANKED_FROM
        )
    last_active(20, "bot-0", "bot-3")
    hide_idle(ladder.pk)
    competitions.leave_ladder(ladder=ladder, bot=Bot.objects.get(name="bot-1"))
    seen = [("bot-2", 1, ""), ("bot-4", 2, "")]
    assert shown(ladder) == seen
    assert shown(ladder, hidden=True) == [
        *seen,
        ("bot-0", None, "idle"),
        ("bot-3", None, "idle"),
        ("bot-1", None, "withdrawn"),
    ]
    ids = dict(Bot.objects.values_list("name", "pk"))
    for hidden in (False, True):
        assert find_bots(ladder, "bot", hidden=hidden) == [
            (ids[name], rank) for name, rank, _ in shown(ladder, hidden=hidden)
        ]


def test_the_next_round_that_rates_an_idle_bot_shows_it_again(ladder: Ladder) -> None:
    last_active(20, "bot-0", "bot-1", "bot-2", "bot-3", "bot-4")
    assert hide_idle(ladder.pk) == 5
    assert shown(ladder) == []
    play_round(ladder)
    assert len(shown(ladder)) == 5
    assert ladders_to_hide_on() == []


def test_a_round_that_does_not_rate_an_idle_bot_leaves_it_hidden(ladder: Ladder) -> None:
    last_active(20, "bot-0")
    hide_idle(ladder.pk)
    competitions.open_ladder_round(ladder.pk)
    for block in ladder.rounds.get(applied_at=None).blocks.filter(bots__bot__name="bot-0"):
        play.void_unfinished_block(block.pk)
    small.run_all()
    assert not ladder.rounds.filter(applied_at=None).exists()
    assert ladder.standings.get(bot__name="bot-0").hidden == "idle"


def test_a_bot_that_leaves_is_hidden_until_it_enters_again(ladder: Ladder) -> None:
    bot, before = Bot.objects.get(name="bot-2"), numbers()
    for _ in range(2):
        competitions.leave_ladder(ladder=ladder, bot=bot)
    row = ladder.standings.get(bot=bot)
    assert row.hidden == "withdrawn"
    assert row.hidden_at == Withdrawal.objects.get().withdrawn_at
    last_active(100, "bot-2")
    assert hide_idle(ladder.pk) == 0  # it has left, and isn't idle
    competitions.enter_ladder(ladder=ladder, bot=bot)
    row = ladder.standings.get(bot=bot)
    assert (row.hidden, row.hidden_at) == ("", None)
    assert not Withdrawal.objects.exists()
    assert ladders_to_hide_on() == []  # it has its days anew
    assert numbers() == before


def test_blocks_drawn_before_a_bot_left_do_not_show_it_again(ladder: Ladder) -> None:
    bot = Bot.objects.get(name="bot-2")
    [newcomer] = small.bots(1, prefix="new")
    competitions.enter_ladder(ladder=ladder, bot=newcomer)
    assert competitions.open_ladder_round(ladder.pk) is not None
    for leaver in (bot, newcomer):
        competitions.leave_ladder(ladder=ladder, bot=leaver)
    small.run_all()
    hidden = ladder.standings.filter(hidden="withdrawn")
    assert set(hidden.values_list("bot__name", flat=True)) == {"bot-2", "new-0"}
    assert not hidden.filter(hidden_at=None).exists()
    assert ratings.recompute(ladder) == []


def test_tournaments_rate_a_bot_that_never_entered_the_ladder_and_it_is_shown() -> None:
    ladder = small.ladder()
    [bot, *_] = small.bots(4)
    small.tournament(ladder)
    small.run_all()
    competitions.leave_ladder(ladder=ladder, bot=bot)  # it isn't on it, so it can't leave
    assert len(shown(ladder)) == 4


def test_a_correction_hides_and_shows_no_bot(ladder: Ladder) -> None:
    competitions.leave_ladder(ladder=ladder, bot=Bot.objects.get(name="bot-1"))
    last_active(20, "bot-0")
    hide_idle(ladder.pk)
    before = list(ladder.standings.order_by("bot").values("bot", "hidden", "hidden_at"))
    ladder.standings.filter(bot__name="bot-1").delete()  # and the repair stores it again
    assert ratings.correct(ladder.pk, reason="a row was lost") is not None
    after = list(ladder.standings.order_by("bot").values("bot", "hidden", "hidden_at"))
    assert after == before


def test_only_shown_bots_have_bands_and_the_next_tick_fits_again(
    ladder: Ladder,
) -> None:
    small.rank_from(ladder, 1)
    small.tournament(ladder)
    small.run_all()
    assert fit_due() == 1
    before = dict(ladder.standings.values_list("bot", "performance"))
    assert not ladder.standings.filter(band=None).exists()
    best = ladder.standings.order_by("-performance").first()
    assert best is not None
    assert best.band == 1
    competitions.leave_ladder(ladder=ladder, bot=best.bot)
    best = ladder.standings.get(pk=best.pk)
    assert best.band is None
    assert fit_due() == 1
    rest = ladder.standings.exclude(bot=best.bot)
    assert min(band or 0 for band in rest.values_list("band", flat=True)) == 1
    assert ladder.standings.get(bot=best.bot).band is None
    assert dict(ladder.standings.values_list("bot", "performance")) == pytest.approx(before)
    assert fit_due() == 0
    competitions.enter_ladder(ladder=ladder, bot=best.bot)
    assert fit_due() == 1
    assert ladder.standings.get(bot=best.bot).band == 1
    assert Fit.objects.count() == 1


def test_upkeep_hides_idle_bots(ladder: Ladder) -> None:
    last_active(20, "bot-0")
    tasks.upkeep()
    assert ladder.standings.get(bot__name="bot-0").hidden == "idle"


def page(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_pages_show_why_a_bot_is_hidden_and_what_shows_it_again(
    client: Client, ladder: Ladder
) -> None:
    assert "hidden" not in page(client, "/ladders/quick/").replace('aria-hidden="true"', "")
    last_active(20, "bot-0")
    hide_idle(ladder.pk)
    competitions.leave_ladder(ladder=ladder, bot=Bot.objects.get(name="bot-1"))
    table = "/bots/bot-0/", "/bots/bot-1/"
    text = page(client, "/ladders/quick/?view=statistics")
    assert not any(link in text for link in table)
    assert "2 bots had no rated block for 14 days or withdrew from the ladder." in text
    assert "?hidden=1" in text
    assert "7500000.000" in text or "7500.000" in text  # the sum is of all
    assert "2 of them hidden" in text
    text = page(client, "/ladders/quick/?hidden=1")
    assert all(link in text for link in table)
    assert text.index("Hidden: not rated for 14 days") < text.index("/bots/bot-0/")
    assert text.index("Hidden: withdrawn from the ladder") < text.index("/bots/bot-1/")
    assert "/bots/bot-0/" not in page(client, "/")
    sought = page(client, "/ladders/quick/?q=bot-0")
    assert "No visible bot of this ladder has “bot-0”" in sought
    assert "?q=bot-0&amp;hidden=1" in sought
    assert "/bots/bot-0/" in page(client, "/ladders/quick/?q=bot-0&hidden=1")
    idle, left = page(client, "/bots/bot-0/"), page(client, "/bots/bot-1/")
    assert "Hidden from the standings</strong> since" in idle
    assert (
        "No round has rated the bot for 14 days. It is shown again when a round rates it." in idle
    )
    assert "The bot has left the ladder. It is shown again when it enters again." in left
    for name, text in (("bot-0", idle), ("bot-1", left)):
        assert f"{ladder.standings.get(bot__name=name).rating / 1000:.0f}" in text
    assert "Hidden from" not in page(client, "/bots/bot-2/")


def test_the_page_of_a_ladder_with_only_hidden_bots_explains_it(
    client: Client, ladder: Ladder
) -> None:
    Standing.objects.update(active_at=timezone.now() - timedelta(days=20))
    hide_idle(ladder.pk)
    text = page(client, "/ladders/quick/")
    assert "All bots with a rating are hidden now" in text
    assert "Show them" in text


def test_frozen_standings_keep_hidden_bots_as_they_were(ladder: Ladder) -> None:
    competitions.leave_ladder(ladder=ladder, bot=Bot.objects.get(name="bot-1"))
    Standing.objects.filter(bot__name="bot-0").update(rating=1)
    ratings.check_ladder(ladder.pk)
    ladder.refresh_from_db()
    assert ladder.alarm
    frozen = {name for name, _, _ in shown(ladder)}
    assert frozen == {"bot-0", "bot-2", "bot-3", "bot-4"}
    last_active(20, "bot-0")
    hide_idle(ladder.pk)
    assert {name for name, _, _ in shown(ladder)} == frozen

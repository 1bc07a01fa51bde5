"""The page of two bots: their score, where they stand, their matches."""

import re

import pytest
from django.test import Client

from engine.rating.intervals import wilson
from league import competitions
from league.models import (
    Bot,
    HeadToHead,
    Ladder,
    Match,
    MatchSeat,
    Standing,
    Tournament,
)
from tests.league import small
from tests.web.pages import page, queries, words_of

pytestmark = pytest.mark.django_db(transaction=True)

MATCH = r'class="match-link" href="/matches/(\d+)/"'


def test_two_bots_have_a_page_with_their_score_by_ladder_seat_and_version(
    client: Client, played: Tournament
) -> None:
    row = HeadToHead.objects.get(bot__name="bot-0", opponent__name="bot-1")
    text = page(client, "/bots/bot-0/against/bot-1/")
    low, high = wilson(row.win_share, row.pairs)
    assert f"{100 * row.win_share:.0f} %" in text
    assert f"{100 * low:.0f} % to {100 * high:.0f} %" in text
    seats = MatchSeat.objects.filter(bot__name="bot-0", match__seating__bot__name="bot-1")
    for seat in set(seats.values_list("seat", flat=True)):
        count = seats.filter(seat=seat).count()
        assert re.search(rf"seat {seat}</th>\s*<td[^>]*>{count}</td>", text)
    assert "version 1 against version 1" in text
    both = Match.objects.filter(seating__bot__name="bot-0").filter(seating__bot__name="bot-1")
    strip = text.partition('class="results strip"')[2].partition("</ol>")[0]
    assert [int(pk) for pk in re.findall(r'/matches/(\d+)/"', strip)] == sorted(
        both.values_list("pk", flat=True)
    )
    wins = 0
    for match in both:
        places = {seat.bot.name: seat.place or 0 for seat in match.seating.all()}
        wins += places["bot-0"] < places["bot-1"]
    assert len(re.findall('aria-hidden="true">W<', strip)) == wins
    other = page(client, "/bots/bot-1/against/bot-0/")
    assert len(re.findall('aria-hidden="true">L<', other.partition('class="met-row"')[0])) == wins
    before = queries(client, "/bots/bot-0/against/bot-1/")
    small.tournament(Ladder.objects.get())
    small.run_all()
    assert queries(client, "/bots/bot-0/against/bot-1/") == before <= 17
    page(client, "/bots/bot-0/against/none/", status=404)


def test_the_page_of_two_bots_states_where_both_stand(client: Client, played: Tournament) -> None:
    text = page(client, "/bots/bot-0/against/bot-1/")
    table = text.partition('class="stand-of"')[2].partition("</table>")[0]
    ratings = [
        played.ladder.standings.get(bot__name=name).rating / 1000 for name in ("bot-0", "bot-1")
    ]
    row = " ".join(f"{rating:.0f} provisional" for rating in ratings)
    assert words_of(table).endswith(f"bot-0 bot-1 {played.ladder.title} {row} Form {_marks(table)}")
    assert len(_marks(table).split()) == 10
    Standing.objects.filter(bot__name="bot-1").update(ranked_from=0)
    assert "rank 1" in words_of(page(client, "/bots/bot-0/against/bot-1/"))


def test_two_bots_without_a_common_ladder_and_without_a_match_have_no_table(
    client: Client,
) -> None:
    small.ladder()
    small.bots(2)
    assert 'class="stand-of"' not in page(client, "/bots/bot-0/against/bot-1/")


def test_each_match_of_two_bots_has_its_result_and_its_time(
    client: Client, played: Tournament
) -> None:
    text = page(client, "/bots/bot-0/against/bot-1/")
    rows = re.findall(r'<li class="met-row">.*?</li>', text, re.DOTALL)
    both = Match.objects.with_bots(*(Bot.objects.get(name=f"bot-{at}").pk for at in (0, 1)))
    assert len(rows) == min(both.count(), 10)
    for row, match in zip(rows, both.order_by("-pk"), strict=False):
        seats = {seat.bot.name: seat for seat in match.seating.all()}
        own, others = seats["bot-0"], seats["bot-1"]
        words, mark = "tied", "D"
        if own.place != others.place:
            is_before = (own.place or 0) < (others.place or 0)
            which, mark = ("better", "W") if is_before else ("worse", "L")
            words = f"had the {which} place"
        assert f'aria-hidden="true">{mark}</span>' in row
        assert f'<span class="unseen">bot-0 {words}, {own.score}-{others.score}:</span>' in row
        duel = f"bot-0 {own.score}-{others.score} bot-1"
        assert duel in words_of(row)
        best = min(seats.values(), key=lambda seat: seat.place or 0)
        alone = sum(seat.place == 1 for seat in seats.values()) == 1
        third = alone and best.bot.name not in ("bot-0", "bot-1")
        assert (f"{best.bot.name} won the match" in words_of(row)) == third
        assert " wins " not in words_of(row)
        assert match.finished_at is not None
        assert f'<time datetime="{match.finished_at:%Y-%m-%dT%H:%M}' in row


def test_the_page_of_two_bots_begins_with_the_result_in_a_sentence(
    client: Client, played: Tournament
) -> None:
    meetings = HeadToHead.objects.filter(bot__name="bot-0", opponent__name="bot-1")

    def words(other_side: bool = False) -> str:
        names = ("bot-1", "bot-0") if other_side else ("bot-0", "bot-1")
        text = page(client, f"/bots/{names[0]}/against/{names[1]}/")
        return " ".join(re.sub(r"<[^>]+>", " ", text.partition("<h1>")[2]).split())

    meetings.update(pairs=120, half_wins=180)
    assert words().startswith("bot-0 beats bot-1 more often")
    assert "bot-0 has a win share of 75 %. Luck alone rarely gives such a result" in words()
    kicker = '<p class="kicker">Two bots · 120 rated matches</p>'
    assert kicker in page(client, "/bots/bot-0/against/bot-1/")
    meetings.update(half_wins=124)
    assert words().startswith("bot-0 is ahead of bot-1 ")
    assert "bot-0 has a win share of 52 %. That may be luck" in words()
    meetings.update(half_wins=120)
    assert words().startswith("bot-0 and bot-1 are level ")
    meetings.update(pairs=1, half_wins=0)  # the only match
    assert words().startswith("bot-1 is ahead of bot-0 ")
    meetings.update(pairs=120)
    meetings.update(half_wins=60)
    assert words().startswith("bot-1 beats bot-0 more often")
    assert "bot-1 has a win share of 75 %" in words()


def test_the_most_one_sided_and_the_closest_match_that_two_bots_won_are_offered(
    client: Client, played: Tournament
) -> None:
    both = Match.objects.filter(seating__bot__name="bot-0").filter(seating__bot__name="bot-1")
    gaps: dict[int, int] = {}
    for match in both:
        scores = {seat.bot.name: seat.score or 0 for seat in match.seating.all()}
        gaps[match.pk] = abs(scores["bot-0"] - scores["bot-1"])
    # A third bot wins the closest matches of all: the page does not offer them.
    closest_of_all = min(gaps.values())
    third = [pk for pk, gap in gaps.items() if gap == closest_of_all]
    pair = list(Bot.objects.filter(name__in=["bot-0", "bot-1"]).values_list("pk", flat=True))
    small.set_places(
        list(both.filter(pk__in=third).distinct()), lambda bot: 2 if bot in pair else 1
    )
    rest = list(both.exclude(pk__in=third).distinct())
    small.set_places(rest, lambda bot: 1 if bot == pair[0] else 2)
    gaps = {match.pk: gaps[match.pk] for match in rest}
    assert len(gaps) >= 2
    text = page(client, "/bots/bot-0/against/bot-1/")
    watch = re.findall(r'class="whole-card" href="/matches/(\d+)/\?step=\d+"', text)
    widest, closest = (int(pk) for pk in watch)
    assert gaps[widest] == max(gaps.values())
    assert gaps[closest] == min(gaps.values())
    sentences = re.findall(r'class="whole-card"[^>]*>(.*?)</a>', text)
    assert [bool(re.fullmatch(r"bot-0 \d+-\d+ bot-1", words_of(each))) for each in sentences] == [
        True,
        True,
    ]


def test_a_bot_is_compared_with_bots_that_share_a_game(client: Client, played: Tournament) -> None:
    alone = Bot.objects.create(name="alone", kind="house")
    [other] = small.bots(1, prefix="pair")
    competitions.enter_ladder(ladder=small.ladder("eagles", seats=2), bot=other)
    offered = re.findall(r'<option value="([^"]+)"', page(client, "/bots/bot-0/"))
    assert sorted(offered) == ["bot-1", "bot-2", "bot-3"]
    answer = client.get("/bots/bot-0/against/?with=Bot-1")
    assert (answer.status_code, answer["Location"]) == (302, "/bots/bot-0/against/bot-1/")
    assert "There is no bot nobody." in page(client, "/bots/bot-0/against/?with=nobody")
    assert "This is bot-0 itself" in page(client, "/bots/bot-0/against/?with=bot-0")
    refused = page(client, "/bots/bot-0/against/?with=pair-0")
    assert "pair-0 and bot-0 can&#x27;t be compared" in refused
    assert "is on no ladder and has met no bot yet" in page(client, f"/bots/{alone}/against/")


def test_two_bots_that_never_met_have_a_page(client: Client) -> None:
    small.bots(2)
    text = page(client, "/bots/bot-0/against/bot-1/")
    assert "<h1>" in text
    assert "have not finished a match" in text
    assert 'class="button" href="/bots/bot-0/challenge/"' in text


def _marks(text: str) -> str:
    return " ".join(re.findall(r'class="result-mark \w+">(\w+)<', text))

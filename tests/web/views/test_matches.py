"""The pages of a match and its record."""

import html
import json
import re

import pytest
from django.test import Client

from engine.record import read, verify
from league import competitions, play
from league.models import Block, Bot, Ladder, Match, Tournament
from tests.league import small
from tests.league.play.forfeited import forfeited_match
from tests.web.pages import page, words_of
from web.table.replays import replay_steps

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_replay_shows_each_day_and_the_end(client: Client, played: Tournament) -> None:
    match = Match.objects.order_by("pk").first()
    assert match is not None
    steps = replay_steps(match.record, [seat.bot.name for seat in match.seating.all()])
    assert len(steps) == 8 + 1
    for number in (1, 5, 9):
        text = page(client, f"/matches/{match.pk}/?step={number}")
        step = steps[number - 1]
        said = [step.why, *(seat.total for seat in step.seats)] if number == 9 else step.reasons
        assert all(reason in text for reason in said)
        assert steps[number - 1].title in text
        assert ("Pot: " in text) == bool(steps[number - 1].pot) == (number < 9)
    assert "Step 1 of 9" in page(client, f"/matches/{match.pk}/?step=nonsense")
    assert "Step 9 of 9" in page(client, f"/matches/{match.pk}/?step=99999")


def test_a_match_names_its_game_first_and_its_block_under_the_deal(
    client: Client, played: Tournament
) -> None:
    match = Match.objects.earliest("pk")
    lead, deal = page(client, f"/matches/{match.pk}/").split("Check the deal", 1)
    assert "12 Days, 8 Nights, rated, 3 seats," in " ".join(lead.split())
    assert "numbered from 0" not in lead
    assert "numbered from 0" in deal


def test_the_end_of_a_match_leads_to_its_neighbours_and_to_a_table_against_its_bots(
    client: Client, played: Tournament
) -> None:
    first, second, *_ = Match.objects.order_by("block__round", "block__number", "number")
    text = page(client, f"/matches/{first.pk}/")
    assert f'href="/matches/{second.pk}/">Next match' in text
    assert "Previous match" not in text
    assert f'href="/matches/{first.pk}/">Previous match' in page(client, f"/matches/{second.pk}/")
    link = re.search(r'href="(/play/[^"]+)">Play these bots', text)
    assert link is not None
    form = page(client, html.unescape(link[1]))
    names = [seat.bot.name for seat in first.seating.all()]
    assert all(name in form for name in names)
    assert '<option value="twelve-days eight-nights" selected>' in form
    assert '<option value="4" selected>' in form
    last = Match.objects.latest("block__round", "block__number", "number")
    assert "Next match" not in page(client, f"/matches/{last.pk}/")


def test_the_result_lists_the_winner_first_and_counts_seats_from_zero(
    client: Client, played: Tournament
) -> None:
    match = Match.objects.order_by("pk").first()
    assert match is not None
    text = page(client, f"/matches/{match.pk}/")
    result = text.split('class="result"')[1].split("</table>")[0]
    names = re.findall(r'href="/bots/([^/]+)/"', result)
    places = [int(each) for each in re.findall(r'<td class="number">(\d+)', result)]
    by_place = sorted((seat.place or 0, seat.seat) for seat in match.seating.all())
    seats = {seat.seat: seat.bot.name for seat in match.seating.all()}
    assert list(zip(places, names, strict=True)) == [(at, seats[seat]) for at, seat in by_place]
    numbered = ", ".join(f"{seat}: {name}" for seat, name in sorted(seats.items()))
    assert f"<dd>{numbered}</dd>" in text
    assert "0: " in numbered


def test_the_result_has_a_column_of_faults_only_if_a_seat_has_one(
    client: Client, played: Tournament
) -> None:
    match = Match.objects.earliest("pk")
    assert ">Faults</th>" not in page(client, f"/matches/{match.pk}/")
    Match.objects.filter(pk=match.pk).update(faults=[0, 2, 0])
    text = page(client, f"/matches/{match.pk}/")
    assert ">Faults</th>" in text
    assert '<td class="number">2</td>' in text.partition(">Faults</th>")[2].partition("</table>")[0]


def test_a_list_shows_why_a_seat_with_many_points_did_not_win(
    client: Client, played: Tournament
) -> None:
    match = Match.objects.earliest("pk")
    places = match.places or []
    last = [seat == places.index(max(places)) for seat in range(match.seats)]
    Match.objects.filter(pk=match.pk).update(faults=[3 * each for each in last], forfeited=last)
    assert page(client, "/matches/").count(" forfeited</span>") == 1


def test_two_bots_against_each_other_also_count_seats_from_zero(
    client: Client, played: Tournament
) -> None:
    text = page(client, "/bots/bot-0/against/bot-1/").lower()
    assert "seat 0" in text
    assert f"seat {Ladder.objects.get().seats}" not in text


def test_before_its_result_a_match_leads_to_the_tables_to_watch(client: Client, db: None) -> None:
    small.bots(4)
    competitions.advance_tournament(small.tournament(small.ladder()).pk)
    match = Match.objects.earliest("pk")
    assert 'href="/tv/">Watch other tables meanwhile' in page(client, f"/matches/{match.pk}/")


def test_while_a_match_has_no_table_the_last_one_of_its_bots_is_replayed(
    client: Client, played: Tournament
) -> None:
    def waiting(bots: list[Bot]) -> Match:
        return play.open_unrated_match(
            game="twelve-days", rules="eight-nights", versions=small.versions(bots)
        )

    first = Match.objects.earliest("pk")
    same = [each for each in Match.objects.order_by("-pk") if {*each.bot_ids} == {*first.bot_ids}]
    match = waiting(list(Bot.objects.filter(pk__in=first.bot_ids)))
    text = page(client, f"/matches/{match.pk}/")
    assert "Watch meanwhile" in text
    state, replay, seats = map(text.index, ("Waiting to be", 'data-table="replay"', "seats-only"))
    assert state < replay < seats  # the replay leads, below one line on the match
    assert f'data-table="replay" data-match="{same[0].pk}"' in text
    assert "web/table/table.js" in text
    assert same[0].pk != Match.objects.finished().latest("finished_at").pk
    text = page(client, f"/matches/{waiting(small.bots(3, prefix='new')).pk}/")
    last = Match.objects.finished().latest("finished_at")
    assert f'data-table="replay" data-match="{last.pk}"' in text
    assert "Watch meanwhile" not in page(client, f"/matches/{first.pk}/")


def test_the_downloaded_record_of_a_match_verifies(client: Client, played: Tournament) -> None:
    match = Match.objects.order_by("pk").first()
    assert match is not None
    text = page(client, f"/matches/{match.pk}/record.json")
    assert verify(read(text.encode())).is_over
    assert json.loads(text)["deal_seed"] == bytes(match.deal_seed).hex()


def test_a_replay_names_the_winner_of_the_headline_if_a_seat_forfeited(client: Client) -> None:
    match = forfeited_match()
    address = f"/matches/{match.pk}/"
    assert "seat-1 wins by forfeit against seat-0" in words_of(page(client, address))
    text = page(client, f"{address}?step=99")
    assert "seat-1 wins the match." in text
    assert "seat-0 wins" not in text
    phases = json.loads(page(client, f"{address}phases.json"))["phases"]
    assert phases[-1]["events"][-1]["places"] == [2, 1]
    assert phases[-1]["sentences"][-1].startswith("seat-1 wins the match;")


def test_a_deal_in_play_at_another_table_stays_secret(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    match = Match.objects.order_by("pk").first()
    assert match is not None
    play.play_match(match.pk, players=small.players)
    text = page(client, f"/matches/{match.pk}/")
    assert "stay hidden until all matches with this deal are finished" in text
    assert bytes(match.deal_seed).hex() not in text
    page(client, f"/matches/{match.pk}/record.json", status=404)
    Match.objects.filter(pk=match.pk).update(forfeited=[True] * match.seats)
    counted = "0 faults and 1 forfeit in the last 1 finished match."
    path = f"/bots/{Bot.objects.get(pk=match.bot_ids[0]).name}/matches/"
    assert counted not in words_of(page(client, path))
    Block.objects.filter(matches=match).update(state="finished")
    assert counted in words_of(page(client, path))

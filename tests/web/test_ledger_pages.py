"""The pages of rounds: every change of a rating links to its block, matches and seeds."""

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engine.deals import commitment
from league import competitions, play, ratings
from league.models import Block, BlockEntry, Ladder, Match, Round
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def ladder() -> Ladder:
    """A ladder on which four bots have played a tournament, in blocks of one deal."""
    ladder = small.ladder()
    small.bots(4)
    small.tournament(ladder)
    small.run_all()
    return ladder


def page(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status
    return response.content.decode()


def signed(milli: int) -> str:
    return f"{milli / 1000:+.3f}".replace("-", "−")


def test_a_rounds_page_links_each_change_to_its_matches_and_seeds(
    client: Client, ladder: Ladder
) -> None:
    round_ = ladder.rounds.first()
    text = page(client, f"/ladders/quick/rounds/{round_.number}/")
    name = f"{ladder.title}: rating round {round_.number}"
    assert f"<h1>Rating round {round_.number}</h1>" in text
    assert f'<meta property="og:title" content="{name}">' in text
    for entry in round_.ledger.all():
        assert f"{entry.rating_before / 1000:.3f}" in text
        assert f"{entry.rating_after / 1000:.3f}" in text
        assert signed(entry.rating_after - entry.rating_before) in text
    for change in BlockEntry.objects.filter(block__round=round_):
        assert signed(change.delta) in text
    for match in Match.objects.filter(block__round=round_):
        assert f'href="/matches/{match.pk}/"' in text
        assert bytes(match.deal_seed).hex() in text
    assert commitment(bytes(round_.seed)) in text
    assert bytes(round_.seed).hex() in text


def test_pages_of_bot_ladder_and_match_link_to_the_round(client: Client, ladder: Ladder) -> None:
    round_ = ladder.rounds.first()
    link = f'href="/ladders/quick/rounds/{round_.number}/'
    block = round_.blocks.first()
    match = block.matches.first()
    bot = block.bots.first().bot
    for path in ("/ladders/quick/?view=statistics", f"/bots/{bot.name}/statistics/"):
        assert link in page(client, path)
    assert f"{link}?block={block.number}#block-{block.number}" in page(
        client, f"/matches/{match.pk}/"
    )
    assert f'id="block-{block.number}"' in page(
        client, f"/ladders/quick/rounds/{round_.number}/?block={block.number}"
    )


def test_from_the_page_with_a_block_the_links_lead_to_the_other_pages_of_blocks(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.views.ladders._BLOCKS", 2)
    bots = [bot.pk for bot in small.bots(3)]
    round_ = small.play_round(small.ladder(), *[bots] * 5)
    address = f"/ladders/quick/rounds/{round_.number}/"
    text = page(client, f"{address}?block=2")
    for shown, rel in ((2, "next"), (4, "prev"), (2, "prev"), (0, "next")):
        assert f'id="block-{shown}"' in text
        link = re.search(rf'rel="{rel}" href="([^"]*)"', text)
        assert link is not None
        text = page(client, address + unescape(link[1]))


def test_the_page_of_a_round_in_play_shows_no_seed(client: Client, ladder: Ladder) -> None:
    tournament = small.tournament(ladder)
    competitions.advance_tournament(tournament.pk)
    round_ = tournament.rounds.get()
    match = Match.objects.filter(block__round=round_).first()
    play.play_match(match.pk, players=small.players)
    text = page(client, f"/ladders/quick/rounds/{round_.number}/")
    assert bytes(round_.seed).hex() not in text
    for match in Match.objects.filter(block__round=round_):
        assert bytes(match.deal_seed).hex() not in text
    assert "Ratings change when all blocks of this rating round are over" in text


def test_a_correction_shows_its_reason_and_links_to_the_revision_before(
    client: Client, ladder: Ladder
) -> None:
    block = Block.objects.first()
    path = f"/ladders/quick/rounds/{block.round.number}/"
    old = [signed(delta) for delta in block.ledger.values_list("delta", flat=True)]
    ratings.mark_void(block_id=block.pk, reason="a power cut in the hall")
    ratings.correct(ladder.pk)
    for where in (path, "/ladders/quick/?view=statistics"):
        assert "a power cut in the hall" in page(client, where)
    new = page(client, path)
    assert f'{path}?revision=1"' in new or 'href="?revision=1"' in new
    before = page(client, f"{path}?revision=1")
    assert "as the ratings stood in revision 1" in before
    for delta in old:
        assert delta in before
    assert page(client, path).count('class="deltas"') == before.count('class="deltas"') - 1
    page(client, f"{path}?revision=3", status=404)
    page(client, "/ladders/quick/rounds/999/", status=404)


def test_the_queries_of_a_rounds_page_do_not_grow_with_its_blocks(
    client: Client, ladder: Ladder
) -> None:
    def queries(round_: Round) -> int:
        with CaptureQueriesContext(connection) as captured:
            page(client, f"/ladders/quick/rounds/{round_.number}/")
        return len(captured)

    few = queries(ladder.rounds.earliest("number"))
    small.bots(8, prefix="more")
    small.tournament(ladder)
    small.run_once()
    big = max(ladder.rounds.all(), key=lambda round_: round_.blocks.count())
    assert big.blocks.count() > 3
    assert queries(big) == few <= 10

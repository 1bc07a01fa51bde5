"""The layout of pages: what must fit on a phone, and how the parts of a page look."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import FloatRect, Locator, Page, ViewportSize, expect
from pytest_django.live_server_helper import LiveServer

from league import feeds, play
from league.models import Bot, Highlight, Match, Tournament
from tests.browser.conftest import Visit, sign_in
from tests.browser.window import open_window, outside

pytestmark = pytest.mark.django_db(transaction=True)

PHONE: ViewportSize = {"width": 390, "height": 844}
INSIDE = """element => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getBoundingClientRect().right <= element.getBoundingClientRect().right;
}"""
"""A script: whether the text of an element ends inside its box."""
OPEN_DETAILS = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
"""A script that opens what is folded."""
LABEL = "cell => getComputedStyle(cell, '::before').content"
"""A script: what stands above the text of a cell."""


def top(page: Page, selector: str) -> float:
    """Return the middle of an element, from the upper edge of the window."""
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"] + box["height"] / 2


def visible(found: Locator) -> int:
    """Return how many of some elements are shown."""
    return sum(each.is_visible() for each in found.all())


def test_a_bots_highlight_is_a_sentence_as_wide_as_its_card(
    league: Tournament, visit: Visit
) -> None:
    feeds.find_highlights(timezone.now().date())
    visit.page.goto(f"/bots/{Highlight.objects.earliest('pk').bot.name}/")
    text = visit.page.locator(".highlight .what").first.bounding_box()
    card = visit.page.locator(".highlight-text").first.bounding_box()
    assert text is not None
    assert card is not None
    assert text["width"] > 0.8 * card["width"]


def test_a_message_stands_below_the_banner_which_touches_the_bar(
    league: Tournament, visit: Visit, live_server: LiveServer
) -> None:
    sign_in(visit.page.context, User.objects.get(username="ada"), live_server.url)
    visit.page.goto("/account/")
    visit.page.evaluate(OPEN_DETAILS)
    visit.page.get_by_role("button", name="Pause bot").click()
    message, banner, bar = (
        visit.page.locator(each).bounding_box() for each in (".messages", ".banner", ".top-bar")
    )
    assert message is not None
    assert banner is not None
    assert bar is not None
    assert bar["y"] + bar["height"] == banner["y"]
    assert message["y"] > banner["y"] + banner["height"]


def test_on_a_phone_each_rate_of_a_bot_has_its_bar_below_it(
    league: Tournament, visit: Visit
) -> None:
    visit.page.set_viewport_size(PHONE)
    visit.page.goto("/bots/bot-0/statistics/")
    rate = visit.page.locator(".rates tbody tr").first
    name, bar = (rate.locator(each).bounding_box() for each in ("th", "svg"))
    assert name is not None
    assert bar is not None
    assert bar["y"] >= name["y"] + name["height"]
    assert bar["width"] > 250
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", ["", "ada", "a-person-with-a-long-name"])
def test_the_menu_stands_in_one_row_with_the_name_of_the_site(
    visit: Visit, live_server: LiveServer, name: str
) -> None:
    if name:
        sign_in(visit.page.context, User.objects.create(username=name), live_server.url)
    visit.page.set_viewport_size({"width": 360, "height": 700})
    visit.page.goto("/docs/")
    assert abs(top(visit.page, ".menu-button") - top(visit.page, ".brand")) < 4


def test_on_a_phone_the_heads_of_a_ladder_fit_and_no_note_is_about_a_hidden_column(
    league: Tournament, visit: Visit
) -> None:
    visit.page.set_viewport_size(PHONE)
    visit.page.goto("/ladders/quick/")
    heads = visit.page.locator(".places thead th")
    expect(visit.page.locator(".places .group")).to_have_count(1)  # its head spans all columns
    name = heads.filter(has_text="Bot").bounding_box()
    assert name is not None
    assert name["width"] > 160  # a usual name and the line below it are not broken
    for head in heads.all():
        assert not head.is_visible() or head.evaluate(INSIDE), head.inner_text()
    for hidden in ("History", "Matches"):
        expect(heads.filter(has_text=hidden)).to_be_hidden()
    expect(visit.page.locator("#columns")).to_contain_text("Trend is the rating gained")
    assert "History" not in visit.page.locator("#columns").inner_text()


def test_a_table_fades_out_at_the_edge_beyond_which_it_goes_on(
    league: Tournament, visit: Visit
) -> None:
    visit.page.set_viewport_size({"width": 680, "height": 900})
    visit.page.goto("/ladders/quick/?view=statistics")
    table = visit.page.locator(".scroll").first

    def cut() -> tuple[str, str]:
        names = ("--cut-left", "--cut-right")
        left, right = (
            table.evaluate(f"table => getComputedStyle(table).getPropertyValue('{name}')")
            for name in names
        )
        return left, right

    assert cut() == ("0px", "48px")
    table.evaluate("table => { table.scrollLeft = table.scrollWidth; }")
    visit.page.wait_for_function(
        # A function: the page's policy forbids what has to be evaluated again.
        "() => getComputedStyle(document.querySelector('.scroll'))"
        ".getPropertyValue('--cut-right') === '0px'"
    )
    assert cut() == ("48px", "0px")
    visit.page.set_viewport_size({"width": 1400, "height": 900})
    visit.page.goto("/ladders/eagles/rounds/1/")
    assert cut() == ("0px", "0px")


def test_on_a_phone_the_tables_of_statistics_are_blocks_and_do_not_scroll(
    league: Tournament, visit: Visit
) -> None:
    visit.page.set_viewport_size(PHONE)
    for path in ("/ladders/quick/?view=statistics", "/bots/bot-0/against/bot-1/"):
        visit.page.goto(path)
        visit.page.evaluate(OPEN_DETAILS)
        tables = visit.page.locator(".scroll:has(.stacks)")
        assert tables.count() >= 2
        for table in tables.all():
            assert table.evaluate("table => table.scrollWidth <= table.clientWidth")
    row = visit.page.get_by_role("row").filter(has_text="version 1")
    expect(row.get_by_role("cell").first).to_be_visible()  # it is still a table
    assert "Matches" in str(row.get_by_role("cell").first.evaluate(LABEL))


def test_on_a_phone_the_banner_of_two_bots_takes_half_a_window(
    league: Tournament, visit: Visit
) -> None:
    banner = on_phone(visit, "/bots/bot-0/against/bot-1/", ".banner")
    assert banner["height"] < PHONE["height"] / 2


def test_on_a_phone_the_form_of_a_list_has_two_rows(league: Tournament, visit: Visit) -> None:
    for path in ("/bots/", "/matches/"):
        form = on_phone(visit, path, ".list-search")
        assert form["height"] < 100


def test_on_a_phone_the_home_page_shows_the_first_items_of_each_list(
    league: Tournament, visit: Visit
) -> None:
    feeds.find_highlights(timezone.now().date())
    rows = visit.page.locator("#latest .match-row")
    pictures = visit.page.locator("#highlights .moment")
    places = visit.page.locator("#ladders .panel").first.locator("li")
    visit.page.goto("/")
    shown = (8, pictures.count(), 4)
    assert tuple(map(visible, (rows, pictures, places))) == shown
    visit.page.set_viewport_size(PHONE)
    assert tuple(map(visible, (rows, pictures, places))) == (3, 1, 3)
    assert 1 < visible(visit.page.locator("#highlights .highlight")) <= 3
    expect(visit.page.get_by_role("link", name="All matches")).to_be_visible()


def test_on_a_phone_a_tournament_offers_only_what_a_phone_can_do(
    league: Tournament, visit: Visit
) -> None:
    buttons = visit.page.locator(".pass-on > :is(button, a)")
    visit.page.goto(f"/tournaments/{league.pk}/")
    assert visible(buttons) == 4
    visit.page.set_viewport_size(PHONE)
    assert visible(buttons) == 2
    expect(visit.page.get_by_text("Show on a big screen")).to_be_hidden()


def test_the_fields_of_a_table_to_play_at_stand_beside_each_other_in_a_wide_window(
    visit: Visit, transactional_db: None
) -> None:
    visit.page.goto("/play/")
    legends = visit.page.locator(".in-columns legend")
    tops = [box["y"] for each in legends.all() if (box := each.bounding_box())]
    assert len(tops) == 3
    assert len(set(tops)) == 1


def test_on_a_phone_both_games_and_the_form_for_a_table_begin_in_the_first_window(
    visit: Visit, transactional_db: None
) -> None:
    form = on_phone(visit, "/play/", "#choose legend")
    assert form["y"] + form["height"] < PHONE["height"]
    rules = visit.page.locator(".games .how")
    assert visible(rules) == 0
    visit.page.get_by_text("Rules in short").first.click()
    assert visible(rules) == 1
    visit.page.set_viewport_size({"width": 820, "height": 1180})
    visit.page.goto("/play/")
    assert visible(rules) == 2
    expect(visit.page.get_by_text("Rules in short").first).to_be_hidden()


def test_on_a_phone_the_table_of_opponents_fits(league: Tournament, visit: Visit) -> None:
    visit.page.set_viewport_size(PHONE)
    visit.page.goto("/bots/bot-0/statistics/")
    table = visit.page.get_by_role("region", name="Opponents on").first
    assert table.evaluate("table => table.scrollWidth <= table.clientWidth")


def test_two_tables_of_the_wall_are_seen_together(league: Tournament, visit: Visit) -> None:
    feeds.find_highlights(timezone.now().date())
    open_window(visit.page, 1400, 900)
    visit.page.goto("/tv/")
    first = ".tv:nth-child(-n + 2)"
    expect(visit.page.locator(f"{first} .felt")).to_have_count(2)
    assert outside(visit.page, f"{first} .felt", f"{first} .why", f"{first} .tv-head") == []


def on_phone(visit: Visit, path: str, selector: str) -> FloatRect:
    """Open a page on a phone; return the box of the first element that a selector finds."""
    visit.page.set_viewport_size(PHONE)
    visit.page.goto(path)
    box = visit.page.locator(selector).first.bounding_box()
    assert box is not None
    return box


def test_on_a_phone_the_standings_begin_in_the_upper_half_of_the_window(
    league: Tournament, visit: Visit
) -> None:
    row = on_phone(visit, "/ladders/quick/", ".places tbody tr:not(.group)")
    assert row["y"] < PHONE["height"] / 2
    expect(visit.page.get_by_role("searchbox")).to_be_hidden()  # all bots are in view
    visit.page.goto("/ladders/quick/?q=bot")
    expect(visit.page.get_by_role("searchbox")).to_be_visible()


def test_the_head_of_a_group_is_whole_where_the_statistics_of_a_ladder_scroll(
    league: Tournament, visit: Visit
) -> None:
    head = on_phone(visit, "/ladders/quick/?view=statistics", ".standings .group span")
    assert head["x"] + head["width"] < PHONE["width"]


def test_below_the_statistics_of_a_ladder_what_the_columns_mean_is_folded(
    league: Tournament, visit: Visit
) -> None:
    visit.page.goto("/ladders/quick/?view=statistics")
    expect(visit.page.get_by_text("is an estimate of strength")).to_be_hidden()
    visit.page.get_by_text("What the columns mean").click()
    expect(visit.page.get_by_text("is an estimate of strength")).to_be_visible()


def test_on_a_narrow_phone_the_marks_of_two_bots_keep_to_their_columns(
    league: Tournament, visit: Visit
) -> None:
    visit.page.set_viewport_size({"width": 360, "height": 740})
    visit.page.goto("/bots/bot-0/against/bot-1/")
    marks = visit.page.locator(".stand-of .form-row")
    assert marks.count() == 2
    assert marks.evaluate_all("all => all.every(row => row.scrollWidth <= row.clientWidth)")


def test_on_a_phone_the_buttons_below_the_result_of_two_bots_stand_in_one_row(
    league: Tournament, visit: Visit
) -> None:
    Bot.objects.filter(name="bot-0").update(name="house-counting-3")
    visit.page.set_viewport_size(PHONE)
    visit.page.goto("/bots/house-counting-3/against/bot-1/")
    buttons = visit.page.locator(".banner .actions .button")
    assert len({box["y"] for each in buttons.all() if (box := each.bounding_box())}) == 1
    assert buttons.count() == 2


def test_where_two_bots_stand_is_beside_their_score_in_a_wide_window(
    league: Tournament, visit: Visit
) -> None:
    visit.page.goto("/bots/bot-0/against/bot-1/")
    table = visit.page.locator(".stand-of").bounding_box()
    score = visit.page.locator(".versus").bounding_box()
    assert table is not None
    assert score is not None
    assert table["x"] > score["x"] + score["width"]
    assert table["y"] < score["y"] + score["height"]
    on_phone(visit, "/bots/bot-0/against/bot-1/", ".stand-of")
    assert top(visit.page, ".stand-of") > top(visit.page, ".banner .actions")


def test_while_hosted_bots_play_the_replay_stands_above_the_seats(
    league: Tournament, visit: Visit
) -> None:
    last = Match.objects.finished().latest("pk")
    match = play.open_unrated_match(
        game=last.game,
        rules=last.rules,
        versions=[seat.version for seat in last.seating.order_by("seat")],
    )
    page = visit.page
    for width, height in ((390, 844), (820, 1180)):
        open_window(page, width, height)
        page.goto(f"/matches/{match.pk}/")
        assert top(page, "#match-state") < top(page, ".felt") < top(page, ".seats-only")
        assert outside(page, "#match-state", ".felt") == []
    open_window(page, 1400, 900)
    assert outside(page, "#match-state", ".felt", ".seats-only") == []


def test_on_a_phone_a_match_in_the_list_has_its_whole_result_and_one_line_more(
    league: Tournament, visit: Visit
) -> None:
    visit.page.set_viewport_size(PHONE)
    visit.page.goto("/matches/")
    rows = [box for each in visit.page.locator(".match-row").all() if (box := each.bounding_box())]
    assert rows
    assert max(box["height"] for box in rows) < 86
    cut = "links => links.filter(link => link.scrollWidth > link.clientWidth + 1).length"
    assert visit.page.locator(".match-row .match-link").evaluate_all(cut) == 0


def test_on_a_phone_the_first_bot_begins_in_the_upper_half_of_the_window(
    league: Tournament, visit: Visit
) -> None:
    assert on_phone(visit, "/bots/", ".bot-row")["y"] < 400


def test_on_a_phone_to_follow_and_to_share_a_tournament_take_one_row(
    league: Tournament, visit: Visit, live_server: LiveServer
) -> None:
    path = f"/tournaments/{league.pk}/"
    assert on_phone(visit, path, ".event-actions")["height"] < 44
    sign_in(visit.page.context, User.objects.get(username="ada"), live_server.url)
    assert on_phone(visit, path, ".event-actions")["height"] < 44


def test_on_a_phone_the_rating_of_a_bot_stands_near_the_middle_of_the_window(
    league: Tournament, visit: Visit
) -> None:
    facts = on_phone(visit, "/bots/bot-0/", ".place-facts")
    # The headline takes one or two lines, as the matches went.
    assert facts["y"] + facts["height"] < 0.55 * PHONE["height"]
    assert abs(top(visit.page, ".kicker a") - top(visit.page, ".kicker .state.running")) < 4


def test_on_a_phone_the_search_of_the_documents_takes_one_row(
    visit: Visit, transactional_db: None
) -> None:
    assert on_phone(visit, "/docs/?q=block", ".documents .search button")["width"] > 60
    found = visit.page.locator(".documents .search > :not(label)")
    middles = [box["y"] + box["height"] / 2 for each in found.all() if (box := each.bounding_box())]
    assert len(middles) == 3
    assert max(middles) - min(middles) < 4


def test_on_a_phone_the_smallest_bot_is_not_cut(
    league: Tournament, visit: Visit, live_server: LiveServer
) -> None:
    sign_in(visit.page.context, User.objects.get(username="ada"), live_server.url)
    bot = Bot.objects.get(owner__username="ada", kind=Bot.Kind.HOSTED)
    on_phone(visit, f"/account/bots/{bot.name}/upload/", "pre")
    code = visit.page.locator("pre")
    assert code.evaluate("pre => pre.scrollWidth <= pre.clientWidth")


def test_the_bar_begins_where_the_page_does_and_a_result_stands_beside_its_table(
    league: Tournament, visit: Visit
) -> None:
    page, path = visit.page, f"/matches/{Match.objects.earliest('pk').pk}/"
    open_window(page, 1400, 900)
    for each in ("/", "/ladders/", "/tv/", path):
        page.goto(each)
        brand, heading = (page.locator(of).first.bounding_box() for of in (".brand", "main h1"))
        assert brand
        assert heading
        assert abs(brand["x"] - heading["x"]) < 1, each
    assert top(page, ".analysis-beside") < top(page, "#result") < top(page, ".jump")
    open_window(page, 390, 844)
    assert top(page, ".jump") < top(page, ".analysis-beside") < top(page, "#result")

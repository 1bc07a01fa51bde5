"""Tables to watch (`tv.js`, `loop.js`), and the reader's times (`times.js`, `own_zone.js`)."""

import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from league import feeds, play
from league.models import Bot, FeedItem, Match, Tournament
from league.play.headlines import headline
from tests.browser.conftest import Visit, sign_in
from tests.browser.streams import HIDE, Streams
from tests.league.play.live import match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)

BEGINNINGS = """
window.beginnings = [];
const Real = window.EventSource;
window.EventSource = function (address) {
    if (!address.endsWith("/tv/events")) return new Real(address);
    const made = new EventTarget();
    made.isOpen = true;
    made.close = () => { made.isOpen = false; };
    made.begin = (match) => made.dispatchEvent(
        new MessageEvent("begin", { data: JSON.stringify({ match }) }));
    beginnings.push(made);
    return made;
};
"""
"""A script after which the test sends the beginnings of live matches."""

NEXT = 20_000
"""Milliseconds within which the next match follows a result, which stays for eight seconds."""


def tables(page: Page, match: Match) -> Locator:
    return page.locator(f"#table-{match.pk}")


def test_home_follows_a_live_match_then_the_next_then_replays_the_best(
    league: Tournament, fresh: Visit
) -> None:
    teams = [remote_bots(3), remote_bots(3)]
    first, second = (match_of(team) for team in reversed(teams))
    Streams(fresh.page)
    fresh.page.goto("/")
    shown = fresh.page.locator("#tv")
    expect(shown.locator(".to-watch")).to_be_visible()
    expect(tables(fresh.page, second).locator(".seat.acts")).to_have_count(3)
    play_on(teams[0])
    expect(shown.locator(".live-state")).to_have_text("Watch the replay")
    expect(shown.locator(".state")).to_have_text("just finished")
    expect(shown.locator(".tv-head")).to_have_text(headline(Match.objects.get(pk=second.pk)))
    following = tables(fresh.page, first).locator(".seat.acts")
    expect(following).to_have_count(3, timeout=NEXT)
    expect(shown.locator("article")).to_have_count(1)
    play_on(teams[1])
    expect(shown.locator(".state")).to_have_text("replay", timeout=NEXT)
    pause = shown.get_by_role("button", name="Pause")
    expect(pause).to_be_visible()
    before = shown.locator(".why").inner_text()
    expect(shown.locator(".why")).not_to_have_text(before)
    pause.click()
    expect(shown.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_a_void_match_is_not_called_finished(league: Tournament, fresh: Visit) -> None:
    match = match_of(remote_bots(3))
    Streams(fresh.page)
    fresh.page.goto("/")
    shown = fresh.page.locator("#tv")
    expect(tables(fresh.page, match).locator(".seat.acts")).to_have_count(3)
    play.void_match(match, "An organiser cancelled it.")
    expect(shown.locator(".live-state")).to_have_text("This match is void: it changes no rating.")
    expect(shown.locator(".state")).to_have_text("void")


@pytest.mark.parametrize("step", [3, 9])
def test_a_replay_stands_still_if_the_reader_wants_less_motion(
    league: Tournament, fresh: Visit, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.setattr("web.tv.deciding_step", lambda record, winner: step)
    fresh.page.emulate_media(reduced_motion="reduce")
    fresh.page.clock.install(time=0)
    fresh.page.clock.pause_at(1)
    fresh.page.goto("/")
    shown = fresh.page.locator("#tv")
    play = shown.get_by_role("button", name="Play", exact=True)
    expect(play).to_be_visible()  # the script has drawn the decisive step
    felt = shown.locator(".felt")
    before = felt.inner_html()
    fresh.page.clock.run_for(60_000)
    assert felt.inner_html() == before
    play.click()
    # The next step shows at once which cards are there; some steps add no sentence.
    for _ in range(3):
        fresh.page.clock.run_for(3000)
        if felt.inner_html() != before:
            break
    assert felt.inner_html() != before


def test_a_replay_begins_with_cards_on_the_felt_plays_some_steps_and_its_end_and_begins_again(
    league: Tournament, fresh: Visit, browser: Browser, live_server: LiveServer
) -> None:
    feeds.find_highlights(timezone.now().date())
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    plain = context.new_page()
    for path in ("/", "/tv/"):
        plain.goto(path)
        for table in plain.locator("[data-table=replay]").all():
            expect(table.locator(".plays .tc").first).to_be_visible()
            first, last = (table.get_attribute(f"data-{name}") for name in ("small", "last"))
            assert int(first or 1) <= max(1, int(last or 0) - 4)
    context.close()
    page = fresh.page
    page.route("**/tv/tables/*", lambda route: route.fulfill(body=""))  # no other match follows
    page.clock.install(time=0)
    page.clock.pause_at(1)
    page.goto("/")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    title = page.locator("#tv .step-title")
    begin, seconds = title.inner_text(), 0
    seen: list[str] = []
    while seconds < 120 and not (seen and seen[-1].startswith("The end")):
        page.clock.run_for(1000)
        seconds += 1
        seen.append(title.inner_text())
    assert 4 <= len({begin, *seen}) - 1 <= 6
    stays = 0
    while stays < 10 and title.inner_text().startswith("The end"):
        page.clock.run_for(1000)
        stays += 1
    assert 2 <= stays <= 5
    assert title.inner_text() == begin


def test_without_javascript_a_replay_has_no_button_that_does_nothing(
    league: Tournament, browser: Browser, live_server: LiveServer
) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    expect(page.locator("#tv .felt")).to_be_visible()
    expect(page.locator("#tv [data-play]")).to_be_hidden()
    context.close()


@pytest.mark.parametrize(
    ("width", "height", "card"), [(390, 844, 34), (820, 1180, 55), (1400, 900, 72)]
)
def test_the_felt_fills_the_first_window_of_the_home_page(
    league: Tournament, visit: Visit, width: int, height: int, card: int
) -> None:
    page = visit.page
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/")
    play = page.locator("#tv").get_by_role("button", name="Play", exact=True)
    expect(play).to_be_visible()
    felt, caption = (page.locator(f"#tv {each}").bounding_box() for each in (".felt", ".why"))
    assert felt is not None
    assert caption is not None
    # The bar, the headline, and one row on what is played stand before it. In a wide font, such as
    # DejaVu Serif, the headline has two lines on a phone.
    assert felt["y"] < 220
    assert felt["y"] + felt["height"] < caption["y"]
    assert caption["y"] < height
    # A replay begins while cards are on the felt; three cards of one seat are smaller than one.
    lies = page.locator("#tv .plays .tc")
    widths = lies.evaluate_all("cards => cards.map((card) => card.offsetWidth)")
    assert max(widths) >= card


@pytest.mark.parametrize(("width", "most"), [(390, 5), (1400, 4)])
def test_a_small_caption_has_few_lines_and_its_title_all_of_the_text(
    league: Tournament, visit: Visit, width: int, most: int
) -> None:
    page, why = visit.page, visit.page.locator("#tv .why")
    page.emulate_media(reduced_motion="reduce")
    page.goto("/")
    expect(page.locator("#tv").get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(why).to_have_attribute("title", re.compile(".+"))
    title = str(why.get_attribute("title"))
    assert " ".join(why.inner_text().split()) in " ".join(title.split())
    page.set_viewport_size({"width": width, "height": 900})
    felt = page.locator("#tv .felt").bounding_box()
    lines = why.evaluate("""why => {
        why.textContent = "A long sentence about the last trick. ".repeat(20);
        return why.offsetHeight / parseFloat(getComputedStyle(why).lineHeight);
    }""")
    assert lines == pytest.approx(most, abs=0.1)
    assert page.locator("#tv .felt").bounding_box() == felt


def test_nine_tables_of_the_wall_share_one_stream_and_the_next_matches_follow(
    league: Tournament, fresh: Visit
) -> None:
    teams = [remote_bots(3) for _ in range(11)]
    matches = [match_of(team) for team in teams]
    streams = Streams(fresh.page)
    fresh.page.goto("/tv/")
    expect(fresh.page.locator(".tv .seat.acts")).to_have_count(27)
    newest = {match.pk for match in matches[2:]}
    assert {frozenset(asked) for asked in streams.asked} == {frozenset(newest)}
    for team in (teams[3], teams[7]):  # two matches end in the same moment
        play_on(team)
    ended = fresh.page.locator(".live-state").filter(has_text="Watch the replay")
    expect(ended).to_have_count(2)
    for match in matches[:2]:
        following = fresh.page.locator(f"#table-{match.pk} .seat.acts")
        expect(following).to_have_count(3, timeout=NEXT)
    shown = fresh.page.locator(".table").evaluate_all("all => all.map((t) => t.dataset.match)")
    assert sorted(map(int, shown)) == sorted(
        match.pk for at, match in enumerate(matches) if at not in (3, 7)
    )


def test_live_matches_take_the_place_of_replays_as_they_begin(
    league: Tournament, fresh: Visit
) -> None:
    feeds.find_highlights(timezone.now().date())
    Streams(fresh.page)
    fresh.page.add_init_script(BEGINNINGS)
    fresh.page.goto("/tv/")
    replays = fresh.page.locator("#wall article .state").filter(has_text="replay")
    expect(replays.first).to_be_visible()
    note = fresh.page.get_by_text("These are replays of recent highlights")
    expect(note).to_be_visible()
    fresh.page.wait_for_function("() => beginnings.length === 1")
    for number in (1, 2):
        match = match_of(remote_bots(3))
        fresh.page.evaluate("match => beginnings[0].begin(match)", match.pk)
        expect(tables(fresh.page, match).locator(".seat.acts")).to_have_count(3)
        expect(fresh.page.locator("#wall article")).to_have_count(number)
    expect(replays).to_have_count(0)
    expect(note).to_have_count(0)
    expect(fresh.page.locator("[data-tv-news]")).to_contain_text("Live now: ")


def test_one_highlight_is_replayed_after_another(league: Tournament, visit: Visit) -> None:
    feeds.find_highlights(timezone.now().date())
    matches = [str(each.match_id) for each in feeds.recent_highlights(9)]
    assert len(matches) > 1
    visit.page.goto("/")
    shown = visit.page.locator("#tv [data-table]")
    expect(shown).to_have_attribute("data-match", matches[0])
    shown.dispatch_event("table-over")
    expect(shown).to_have_attribute("data-match", matches[1])
    expect(visit.page.locator("#tv article")).to_have_count(1)


def test_the_first_match_ever_appears_on_the_wall(fresh: Visit, transactional_db: None) -> None:
    Streams(fresh.page)
    fresh.page.add_init_script(BEGINNINGS)
    fresh.page.goto("/tv/")
    expect(fresh.page.locator("#wall .empty")).to_be_visible()
    match = match_of(remote_bots(3))
    fresh.page.evaluate("match => beginnings[0].begin(match)", match.pk)
    expect(tables(fresh.page, match).locator(".seat.acts")).to_have_count(3)
    expect(fresh.page.locator("#wall .empty")).to_have_count(0)


def test_a_stream_of_beginnings_that_fails_is_opened_again_and_a_full_page_has_none(
    league: Tournament, fresh: Visit
) -> None:
    fresh.page.add_init_script(BEGINNINGS)
    fresh.page.clock.install(time=0)
    fresh.page.goto("/")
    fresh.page.wait_for_function("() => beginnings.length === 1")
    fresh.page.evaluate("beginnings[0].dispatchEvent(new Event('error'))")
    fresh.page.clock.run_for(3000)
    assert fresh.page.evaluate("beginnings.map((each) => each.isOpen)") == [False, True]
    fresh.page.evaluate(HIDE, True)
    assert fresh.page.evaluate("beginnings.map((each) => each.isOpen)") == [False, False]
    match_of(remote_bots(3))
    Streams(fresh.page)
    fresh.page.goto("/")
    expect(fresh.page.locator("#tv .seat.acts")).to_have_count(3)
    assert fresh.page.evaluate("beginnings.length") == 0


def test_a_next_match_that_could_not_be_loaded_is_loaded_later(
    league: Tournament, fresh: Visit
) -> None:
    page = fresh.page
    teams = [remote_bots(3), remote_bots(3)]
    first, second = (match_of(team) for team in reversed(teams))
    Streams(page)
    page.clock.install()
    page.goto("/")
    expect(tables(page, second).locator(".seat.acts")).to_have_count(3)
    page.route("**/tv/tables/*", lambda route: route.fulfill(status=503), times=1)
    play_on(teams[0])
    expect(page.locator("#tv .state")).to_have_text("just finished")
    with page.expect_response(lambda answer: answer.status == 503):
        page.clock.fast_forward(10_000)
    page.clock.fast_forward(20_000)
    expect(tables(page, first).locator(".seat.acts")).to_have_count(3)
    fresh.errors.clear()  # the browser logs the failure as an error


def test_the_wall_fills_the_screen(league: Tournament, fresh: Visit) -> None:
    match_of(remote_bots(3))
    Streams(fresh.page)
    fresh.page.goto("/tv/")
    fresh.page.get_by_role("button", name="Show full screen").click()
    fresh.page.wait_for_function("() => document.fullscreenElement?.id === 'wall'")
    expect(fresh.page.locator("article .felt")).to_be_visible()


def test_times_are_in_the_readers_zone_and_name_it(
    league: Tournament, browser: Browser, live_server: LiveServer
) -> None:
    Tournament.objects.update(finished_at="2026-01-06T20:00:00Z")
    context = browser.new_context(
        base_url=live_server.url, timezone_id="Asia/Kolkata", locale="en-GB"
    )
    page = context.new_page()
    page.goto("/events/")
    expect(page.locator("time").first).to_have_text(re.compile(r"7 Jan 2026, 01:30 \S+"))
    context.close()


def test_an_organisers_form_offers_the_readers_zone_and_keeps_the_moment(
    league: Tournament, browser: Browser, live_server: LiveServer
) -> None:
    olga = User.objects.create(username="olga", is_staff=True)
    Tournament.objects.update(state="open", starts_at="2031-01-06T20:00:00Z")
    cup = Tournament.objects.earliest("pk")
    context = browser.new_context(base_url=live_server.url, timezone_id="Asia/Kolkata")
    sign_in(context, olga, live_server.url)
    page = context.new_page()
    page.goto(f"/organise/tournaments/{cup.pk}/change/")
    expect(page.get_by_label("Your time zone")).to_have_value(re.compile("Asia/(Kolkata|Calcutta)"))
    expect(page.get_by_label("Start", exact=True)).to_have_value("2031-01-07T01:30")
    context.close()


def test_the_feed_has_the_time_alone_unless_the_day_of_the_reader_differs(
    league: Tournament, browser: Browser, live_server: LiveServer
) -> None:
    user, bot = User.objects.get(), Bot.objects.get(name="bot-1")
    feeds.follow(user, bot)
    for hour in (12, 22):
        FeedItem.objects.create(
            key=f"version/{hour}",
            kind="version",
            at=datetime(2026, 1, 6, hour, tzinfo=UTC),
            bot=bot,
            number=2,
        )
    context = browser.new_context(
        base_url=live_server.url, timezone_id="Asia/Kolkata", locale="en-GB"
    )
    sign_in(context, user, live_server.url)
    page = context.new_page()
    page.goto("/feed/")
    times = page.locator("time[data-clock]")
    expect(times.first).to_have_text(re.compile(r"^7 Jan 2026, 03:30 \S+$"))
    expect(times.last).to_have_text(re.compile(r"^17:30 \S+$"))
    context.close()


def test_every_time_names_one_zone(
    league: Tournament, browser: Browser, live_server: LiveServer
) -> None:
    cup = Tournament.objects.exclude(pk=league.pk).get()
    Tournament.objects.filter(pk=cup.pk).update(state=Tournament.State.ENTRIES_OPEN)
    Bot.objects.filter(name="bot-1").update(kind="hosted", owner=User.objects.get())
    context = browser.new_context(
        base_url=live_server.url, timezone_id="Asia/Kolkata", locale="en-GB"
    )
    sign_in(context, User.objects.get(), live_server.url)
    page = context.new_page()
    seen = 0
    for path in (
        f"/tournaments/{league.pk}/",
        f"/tournaments/{cup.pk}/",
        f"/embed/tournaments/{cup.pk}/",
        "/events/",
        "/bots/bot-1/versions/",
        "/ladders/quick/rounds/1/",
        "/account/",
    ):
        page.goto(path)
        page.wait_for_function("() => document.readyState === 'complete'")
        times = page.locator("time[datetime*='T']").all()
        for time in times:
            expect(time).to_have_text(re.compile(r"^\d+ \w{3,4} \d{4}, \d\d:\d\d (GMT\+5:30|IST)$"))
            assert str(time.get_attribute("title")).endswith(" UTC")
        seen += len(times)
        assert not re.search(r"(GMT\+5:30|IST|UTC)\s+UTC", page.locator("body").inner_text())
    assert seen >= 6
    context.close()

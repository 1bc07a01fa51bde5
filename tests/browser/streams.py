"""Event streams for the browser: of real matches, as the gateway sends them, or by hand."""

from urllib.parse import parse_qs, urlsplit

from django.db import connections
from playwright.sync_api import Page, Route

from api.play.database import EncodedEvent
from api.play.spectators import WatchedMatch
from api.play.watching import Place, new_part, places_of
from league.play.spectating import MatchFeed


class Streams:
    """Answers each connection with all events that the client does not have yet, and ends it.

    So the client connects again and again, about once a second.

    Attributes:
        asked: the matches of each connection.
    """

    def __init__(self, page: Page) -> None:
        self._matches: dict[int, WatchedMatch] = {}
        self.asked: list[list[int]] = []
        page.route("**/api/v1/matches/events?*", self._answer)

    def _answer(self, route: Route) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        wanted = [int(text) for text in query["match"]]
        self.asked.append(wanted)
        last_ids = places_of(query.get("after", [""])[0])
        try:
            places = [Place(pk, self._read(pk), last_ids.get(pk, "")) for pk in wanted]
        finally:
            connections.close_all()  # Playwright calls this in a context with its own connections
        body = b": connected\n\n" + new_part(places, is_single=False)
        route.fulfill(content_type="text/event-stream", body=body)

    def _read(self, pk: int) -> WatchedMatch:
        match = self._matches.setdefault(pk, WatchedMatch(MatchFeed(pk)))
        match.events += [EncodedEvent(event) for event in match.feed.new_events()]
        match.over, match.clock = match.feed.over, match.feed.clock
        return match


BY_HAND = """
window.streams = [];
window.EventSource = class extends EventTarget {
    constructor(address) {
        super();
        this.address = address;
        this.isOpen = true;
        streams.push(this);
    }
    close() { this.isOpen = false; }
    send(kind, data) {
        const text = data && JSON.stringify(data);
        this.dispatchEvent(new MessageEvent(kind, { data: text }));
    }
};
"""
"""A script that replaces event streams: ``streams`` lists them, and a test sends their events."""

HIDE = """
(hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}
"""
"""A function that hides or shows the tab."""

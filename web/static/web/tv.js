// Tables to watch, on the home page and on the wall. Without a live match, replays of recent
// highlights play one after another. As soon as a match begins, it takes their place: the server
// sends an event, so no page asks again and again. The wall can fill the screen, for a projector.

import { start } from "./table/table.js";
import { part, parts } from "./table/view.js";

/** The stream of events for live matches that begin. */
const BEGINNINGS = "/tv/events";
/** Milliseconds for which a result stays. */
const RESULT = 8000;
/** Most milliseconds that a page waits after a beginning, so that not all pages ask at once. */
const SPREAD = 1000;
/** Seconds after which a stream or a fill that failed is tried again, at first and at most. */
const PAUSE = 2;
const LONGEST_PAUSE = 60;

/** The fills so far: one after the other, so that no match takes two places. */
let filled = Promise.resolve();

/** @param {Element} place */
const tablesOf = (place, which = "") => [...parts(place, `[data-table]${which}`)];
/** Returns the tables of live matches that go on. @param {Element} place */
const liveOf = (place) => tablesOf(place, "[data-table=live]:not(.over)");
/** @param {HTMLElement} place */
const free = (place) => Number(place.dataset.count) - liveOf(place).length;

/** Fills the free places of tables: with live matches or, if there is none, with replays. @param {HTMLElement} place */
async function fill(place) {
  const tables = tablesOf(place);
  if (free(place) < 1) return;
  const over = tables.filter((table) => table.classList.contains("over"));
  const query = new URLSearchParams({ count: String(free(place)) });
  if (!liveOf(place).length) {
    // A first match ever has no table to replace, and needs no replay.
    query.set("replays", String(over.length));
    if (over.length) query.set("after", `${over[0].dataset.match}`);
  }
  for (const table of tables) query.append("not", `${table.dataset.match}`);
  const answer = await fetch(`${place.dataset.tv}?${query}`);
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const articles = [...fresh.querySelectorAll("article")];
  const isLive = Boolean(fresh.querySelector("[data-table=live]"));
  // A live match ends all replays; a replay takes the place of a table that is over.
  const old = isLive ? tables.filter((table) => !liveOf(place).includes(table)) : over;
  for (const article of articles) {
    const before = old.shift()?.closest("article");
    const focused = before?.contains(document.activeElement);
    if (before) before.replaceWith(article);
    else place.append(article);
    if (focused) part(article, "a").focus({ preventScroll: true });
    start(part(article, "[data-table]"));
  }
  if (!isLive) {
    for (const table of old) table.classList.remove("over"); // it plays again
    return;
  }
  for (const table of old) if (table.dataset.table === "replay") table.closest("article")?.remove();
  for (const note of document.querySelectorAll("[data-none-live]")) note.remove();
  const news = document.querySelector("[data-tv-news]");
  if (news) news.textContent = `Live now: ${part(articles[0], ".tv-head").textContent}`;
}

/** Fills the free places after the fills before, and again later if that fails. @param {HTMLElement} place */
function fillNext(place, failures = 0) {
  filled = filled
    .then(() => fill(place))
    .then(() => listen(place))
    .catch((error) => {
      console.warn("No next match:", error.message);
      setTimeout(() => fillNext(place, failures + 1), pause(failures));
    });
}

/** @param {number} failures  @returns {number} milliseconds before the next attempt */
function pause(failures) {
  return 1000 * Math.min(LONGEST_PAUSE, PAUSE * 2 ** failures) * (0.8 + 0.4 * Math.random());
}

/** @type {EventSource|null} The stream of beginnings, while a place is free and the tab is seen. */
let stream = null;
let failures = 0;

/** Opens the stream if a place is free, and closes it if none is. @param {HTMLElement} place */
function listen(place) {
  const wanted = !document.hidden && free(place) > 0;
  if (!wanted) {
    stream?.close();
    stream = null;
  }
  if (!wanted || stream) return;
  const opened = new EventSource(BEGINNINGS);
  stream = opened;
  let planned = 0;
  opened.addEventListener("open", () => { failures = 0; });
  opened.addEventListener("begin", (event) => {
    const { match } = JSON.parse(event.data);
    if (planned || place.querySelector(`[data-match="${match}"]`)) return;
    planned = setTimeout(() => {
      planned = 0;
      fillNext(place);
    }, SPREAD * Math.random());
  });
  opened.addEventListener("error", () => {
    opened.close(); // the browser itself would try again every few seconds for ever
    if (stream !== opened) return;
    setTimeout(() => {
      if (stream !== opened) return;
      stream = null;
      listen(place);
    }, pause(failures));
    failures += 1;
  });
}

/** Fills the place of a table that is over, once the tab is seen. @param {HTMLElement} place @param {HTMLElement} table */
function replace(place, table) {
  if (document.hidden) {
    document.addEventListener("visibilitychange", () => replace(place, table), { once: true });
    return;
  }
  table.classList.add("over");
  fillNext(place);
}

for (const place of parts(document, "[data-tv]")) {
  place.addEventListener("table-over", (event) => {
    const table = /** @type {HTMLElement} */ (event.target);
    if (table.dataset.table === "replay") return replace(place, table);
    const article = /** @type {HTMLElement} */ (table.closest("article"));
    const title = part(article, ".tv-head a");
    title.textContent = title.textContent.replace(/: in play$/, "");
    const state = part(article, ".state");
    state.className = "state";
    state.textContent = "just finished";
    return setTimeout(() => replace(place, table), RESULT);
  });
  document.addEventListener("visibilitychange", () => listen(place));
  listen(place);
}

for (const button of parts(document, "[data-full-screen]")) {
  button.hidden = !document.fullscreenEnabled;
  button.addEventListener("click", () => {
    part(document, `#${button.dataset.fullScreen}`).requestFullscreen();
  });
}

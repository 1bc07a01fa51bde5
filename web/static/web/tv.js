// Tables to watch, on the home page and on the wall. Without a live match, replays of recent
// highlights play one after another. As soon as a match begins, it takes their place: the server
// sends an event, so no page asks again and again. The wall can fill the screen, for a projector.

import { growingPause } from "./failures.js";
import { fetchPage } from "./fetching.js";
import { Stream } from "./stream.js";
import { start } from "./table/table.js";
import { part, parts } from "./table/view.js";

/** The stream of events for live matches that begin. */
const BEGINNINGS = "/tv/events";
/** Milliseconds for which a result stays. */
const RESULT = 8000;
/** Most milliseconds that a page waits after a beginning, so that not all pages ask at once. */
const SPREAD = 1000;

/** The tables of the page stand in it. */
const place = part(document, "[data-tv]");
/** The fills so far: one after the other, so that no match takes two places. */
let filled = Promise.resolve();

/** Returns the tables of live matches that go on. */
const going = () => [...parts(place, "[data-table=live]:not(.over)")];
const free = () => Number(place.dataset.count) - going().length;

/** Fills the free places of tables: with live matches or, if there is none, with replays. */
async function fill() {
  const tables = [...parts(place, "[data-table]")];
  if (free() < 1) return;
  const over = tables.filter((table) => table.classList.contains("over"));
  const query = new URLSearchParams({ count: String(free()) });
  if (!going().length) {
    // A first match ever has no table to replace, and needs no replay.
    query.set("replays", String(over.length));
    if (over.length) query.set("after", `${over[0].dataset.match}`);
  }
  for (const table of tables) query.append("not", `${table.dataset.match}`);
  const fresh = await fetchPage(`${place.dataset.tv}?${query}`);
  const articles = [...fresh.querySelectorAll("article")];
  const isLive = Boolean(fresh.querySelector("[data-table=live]"));
  // A live match ends all replays; a replay takes the place of a table that is over.
  const old = isLive ? tables.filter((table) => !going().includes(table)) : over;
  for (const article of articles) {
    const before = old.shift()?.closest("article");
    const focused = before?.contains(document.activeElement);
    if (before) before.replaceWith(article);
    else place.append(article);
    if (focused) part(article, "a").focus({ preventScroll: true });
    start(part(article, "[data-table]"));
  }
  if (!isLive) {
    // A replay plays again; a match that has ended does not, so its place stays free.
    for (const table of old) if (table.dataset.table === "replay") table.classList.remove("over");
    return;
  }
  for (const table of old) if (table.dataset.table === "replay") table.closest("article")?.remove();
  for (const note of document.querySelectorAll("[data-none-live]")) note.remove();
  const news = document.querySelector("[data-tv-news]");
  if (news) news.textContent = `Live now: ${part(articles[0], ".tv-head").textContent}`;
}

/** Fills the free places after the fills before, and again later if that fails. */
function fillNext(failures = 0) {
  filled = filled
    .then(fill)
    .then(listen)
    .catch((error) => {
      console.warn("No next match:", error.message);
      setTimeout(() => fillNext(failures + 1), growingPause(failures));
    });
}

let planned = 0; // the timer of the next fill after a beginning
const events = {
  begin(/** @type {{match: number}} */ { match }) {
    if (planned || place.querySelector(`[data-match="${match}"]`)) return;
    planned = setTimeout(() => {
      planned = 0;
      fillNext();
    }, SPREAD * Math.random());
  },
};
const stream = new Stream(events, {
  again: listen,
  opened() {
    stream.failures = 0;
  },
});

/** Opens the stream of beginnings while a place is free and the tab is seen, else closes it. */
function listen() {
  if (document.hidden || free() < 1) stream.close();
  else if (!stream.isWanted) stream.open(BEGINNINGS);
}

/** Fills the place of a table that is over, once the tab is seen. @param {HTMLElement} table */
function replace(table) {
  if (document.hidden) {
    document.addEventListener("visibilitychange", () => replace(table), { once: true });
    return;
  }
  table.classList.add("over");
  fillNext();
}

place.addEventListener("table-over", (event) => {
  const table = /** @type {HTMLElement} */ (event.target);
  if (table.dataset.table === "replay") return replace(table);
  const article = /** @type {HTMLElement} */ (table.closest("article"));
  const isVoid = /** @type {CustomEvent<string>} */ (event).detail === "void";
  const state = part(article, ".state");
  state.className = isVoid ? "state void" : "state ended";
  state.textContent = isVoid ? "void" : "just finished";
  return setTimeout(() => replace(table), RESULT);
});
document.addEventListener("visibilitychange", listen);
listen();

for (const button of parts(document, "[data-full-screen]")) {
  button.hidden = !document.fullscreenEnabled;
  button.addEventListener("click", () => {
    part(document, `#${button.dataset.fullScreen}`).requestFullscreen();
  });
}

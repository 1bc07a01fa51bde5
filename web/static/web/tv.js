// Tables to watch, on the home page and on the wall: when a match is over, the next one takes its
// place. A wall with free places grows when matches begin. It can fill the screen, for a projector.

import { start } from "./table/table.js";

/** Milliseconds for which a result stays. */
const RESULT = 8000;
/** Milliseconds after which free places are filled again, if there was no match or no answer. */
const LOOK = 15_000;

/** The fills so far: one after the other, so that no match takes two places. */
let filled = Promise.resolve();

/** Fills the free places of tables with live matches. @param {HTMLElement} place */
async function fill(place) {
  const tables = [...place.querySelectorAll("[data-table]")];
  const free = tables.filter((table) => table.classList.contains("over"));
  const count = Number(place.dataset.count) - tables.length + free.length;
  if (count < 1) return;
  const query = new URLSearchParams({ count: String(count) });
  if (free.length === tables.length) query.set("best", "1");
  for (const table of tables) query.append("not", table.dataset.match);
  const answer = await fetch(`${place.dataset.tv}?${query}`);
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const article of fresh.querySelectorAll("article")) {
    const old = free.shift()?.closest("article");
    if (old) {
      const focused = old.contains(document.activeElement);
      old.replaceWith(article);
      if (focused) article.querySelector("a").focus({ preventScroll: true });
    } else place.append(article);
    const table = article.querySelector("[data-table]");
    if (table.dataset.table === "live") {
      for (const note of document.querySelectorAll("[data-none-live]")) note.remove();
    }
    start(table);
  }
}

/** Fills the free places after the fills before. @param {HTMLElement} place */
function fillNext(place) {
  filled = filled
    .then(() => fill(place))
    .catch((error) => console.warn("No next match:", error.message));
}

for (const place of document.querySelectorAll("[data-tv]")) {
  place.addEventListener("table-over", (event) => {
    const table = event.target;
    const wait = table.dataset.table === "live" ? RESULT : 0;
    if (wait) {
      const title = table.closest("article").querySelector(".tv-head a");
      title.textContent = title.textContent.replace(/: in play$/, "");
      const state = table.closest("article").querySelector(".state");
      state.className = "state";
      state.textContent = "just finished";
    }
    const later = () => {
      if (document.hidden) {
        document.addEventListener("visibilitychange", later, { once: true });
        return;
      }
      table.classList.add("over");
      fillNext(place);
    };
    setTimeout(later, wait);
  });
  setInterval(() => {
    if (!document.hidden) fillNext(place);
  }, LOOK);
}

const button = document.querySelector("[data-full-screen]");
if (button && document.fullscreenEnabled) {
  button.hidden = false;
  button.addEventListener("click", () => {
    document.getElementById(button.dataset.fullScreen).requestFullscreen();
  });
}

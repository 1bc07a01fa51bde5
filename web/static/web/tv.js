// Tables to watch, on the home page and on the wall: when a match is over, the next one takes its
// place. The wall can fill the screen, for a projector.

import { start } from "./table/table.js";

/** Milliseconds for which a result stays. */
const RESULT = 8000;

/** Fills the free places of tables with live matches. @param {HTMLElement} place */
async function fill(place) {
  const tables = [...place.querySelectorAll("[data-table]")];
  const free = tables.filter((table) => table.classList.contains("over"));
  const count = Number(place.dataset.count) - tables.length + free.length;
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
    start(article.querySelector("[data-table]"));
  }
}

for (const place of document.querySelectorAll("[data-tv]")) {
  place.addEventListener("table-over", (event) => {
    const table = event.target;
    table.classList.add("over");
    const wait = table.dataset.table === "live" ? RESULT : 0;
    if (wait) {
      const title = table.closest("article").querySelector(".tv-head a");
      title.textContent = title.textContent.replace(/: in play$/, "");
      const state = table.closest("article").querySelector(".state");
      state.className = "state";
      state.textContent = "just finished";
    }
    const later = () => {
      if (document.hidden) document.addEventListener("visibilitychange", later, { once: true });
      else fill(place).catch((error) => console.warn("No next match:", error.message));
    };
    setTimeout(later, wait);
  });
}

const button = document.querySelector("[data-full-screen]");
if (button && document.fullscreenEnabled) {
  button.hidden = false;
  button.addEventListener("click", () => {
    document.getElementById(button.dataset.fullScreen).requestFullscreen();
  });
}

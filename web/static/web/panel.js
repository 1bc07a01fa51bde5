// The parts beside a player's table: the question, the advice, the clock and the news.

import { countSeconds } from "./time_left.js";

const MOST_NEWS = 14;
let isFirst = true; // the server has rendered the first news
let stopClock = () => {};

/** Returns an element that the page has. @type {FindPlayPart} */
export const find = (id) => /** @type {any} */ (document.getElementById(id));

/** Replaces the parts of the page that change with each turn. @param {string} html */
export function renew(html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  const folded = () => /** @type {HTMLDetailsElement|null} */ (document.querySelector(".all-moves"));
  const isOpen = folded()?.open;
  for (const part of made.content.querySelectorAll("#ask, #own")) document.getElementById(part.id)?.replaceWith(part);
  const list = folded();
  if (isOpen && list) list.open = true;
  // Keep the element, so that a screen reader reads new advice.
  const advice = /** @type {HTMLElement} */ (made.content.getElementById("advice"));
  if (find("advice").textContent.trim() !== advice.textContent?.trim()) {
    find("advice").replaceChildren(...advice.childNodes);
  }
}

/** Adds the sentences of new phases; a screen reader reads only these. @param {string[]} lines */
export function addNews(lines) {
  const list = /** @type {HTMLElement} */ (document.querySelector("#news ul"));
  for (const line of isFirst ? [] : lines) {
    const item = document.createElement("li");
    item.textContent = line;
    list.prepend(item);
  }
  isFirst = false;
  while (list.children.length > MOST_NEWS) list.lastElementChild?.remove();
}

/**
 * Shows the time that is left for a move, and counts it down.
 * @param {number|null} ms  null: there is no clock
 * @param {() => void} over  called when the time ends, but not if it had ended before
 */
export function countDown(ms, over) {
  stopClock();
  const clock = document.querySelector(".countdown");
  if (!clock || ms === null) return;
  stopClock = countSeconds(ms, (left) => {
    clock.textContent = `${left} s left`;
    clock.classList.toggle("hurry", left <= 10);
    if (!left && ms > 0) over();
  });
}

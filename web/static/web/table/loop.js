// Plays some steps of a small table and its end, again and again, until somebody pauses it.

import { entitle } from "./headline.js";
import { over, part, press, stay, still, WAITS } from "./view.js";

/** So many steps are played before the end. */
const STEPS = 6;

/** @param {HTMLElement} table @param {Player} player */
export function loop(table, player) {
  const button = part(table, "[data-play]");
  const { frames, at: first } = player;
  const last = frames.length - 1;
  const article = table.closest("article");
  const players = article?.querySelector("[data-headline]")?.textContent ?? "";
  // Only while the end is shown, the words above the felt have the result.
  const show = (/** @type {number} */ at) => {
    player.show(at, { by: "play" });
    entitle(table, at === last ? `${table.dataset.result}` : players);
    const news = article?.querySelector("[data-at-end]");
    news?.toggleAttribute("hidden", at !== last);
    if (news) article?.querySelector("[data-before-end]")?.toggleAttribute("hidden", at === last);
  };
  let timer = 0;
  const plan = (wait = 0) => {
    timer = setTimeout(next, wait);
  };
  const next = () => {
    if (!table.isConnected) return;
    if (document.hidden) plan(1000);
    else if (player.at < last) {
      const after = player.at + 1;
      const isFar = frames[after].step >= frames[first].step + STEPS;
      show(isFar ? last : after);
      plan(stay(frames[player.at]));
    } else {
      over(table, "finished");
      player.at = first - 1; // unless the page shows another match soon, this one begins again
      plan(WAITS.deal);
    }
  };
  const play = (on = true) => {
    clearTimeout(timer);
    press(button, on);
    if (on) plan(player.at === first ? WAITS.result : WAITS.deal);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    if (on && player.at === last) show(first);
    play(on);
  });
  play(!still.matches);
}

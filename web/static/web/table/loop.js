// Plays a small table again and again, until somebody pauses it.

import { over, part, press, stay, still, WAITS } from "./view.js";

/** @param {HTMLElement} table @param {Player} player */
export function loop(table, player) {
  const button = part(table, "[data-play]");
  const last = player.frames.length - 1;
  let timer = 0;
  const plan = (wait = WAITS.end) => {
    timer = setTimeout(next, wait);
  };
  const next = () => {
    if (!table.isConnected) return;
    if (document.hidden) plan(1000);
    else if (player.at < last) {
      player.show(player.at + 1, { by: "play" });
      plan(player.at < last ? stay(player.frames[player.at]) : 2 * WAITS.end);
    } else {
      over(table);
      player.at = -1; // unless the page shows another match now, this one plays from its beginning
      plan();
    }
  };
  const play = (on = true) => {
    clearTimeout(timer);
    press(button, on);
    if (on) plan(WAITS.deal);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    if (on && player.at === last) player.show(0, { by: "play" });
    play(on);
  });
  play(!still.matches);
}

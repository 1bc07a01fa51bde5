// Counts down to a time: each element with data-countdown, whose value is the time in UTC.
// With data-reload, the page loads again when the time has come, so it need not ask before. If the
// reader's clock is fast, or the league is late, the page loads again a few times.

/** Most milliseconds between the end of a countdown and the reload of its page. */
const SPREAD = 5000;
/** Milliseconds until a page loads again if its countdown had ended when it was loaded. */
const AGAIN = 10_000;
/** Seconds after a countdown in which its page still loads again: a clock may be wrong by hours. */
const PATIENCE = 300;
/** The countdowns that have not ended. */
const running = new WeakSet();
/** The countdowns whose page loads again. */
const due = new WeakSet();

/** @param {number} seconds */
function inWords(seconds) {
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24];
  const [minutes, rest] = [Math.floor(seconds / 60) % 60, seconds % 60];
  if (days) return `${days} day${days === 1 ? "" : "s"} ${hours} h`;
  if (hours) return `${hours} h ${String(minutes).padStart(2, "0")} min`;
  return `${minutes} min ${String(rest).padStart(2, "0")} s`;
}

/** @returns {Elements} */
const places = () => document.querySelectorAll("[data-countdown]");

function show() {
  for (const place of places()) {
    const seconds = Math.round((Date.parse(place.dataset.countdown ?? "") - Date.now()) / 1000);
    if (Number.isNaN(seconds)) continue;
    const text = seconds > 0 ? inWords(seconds) : "a moment";
    if (place.textContent !== text) place.textContent = text;
    if (seconds > 0) running.add(place);
    else if ("reload" in place.dataset && !due.has(place)) reload(place, seconds);
  }
}

/**
 * Loads the page again, for each reader at another moment. A page that updates itself stays.
 * @param {HTMLElement} place @param {number} seconds until the time, negative after it
 */
function reload(place, seconds) {
  const hasEnded = running.has(place);
  if (!hasEnded && (seconds < -PATIENCE || !place.closest("[data-live='']"))) return;
  due.add(place);
  setTimeout(() => location.reload(), (hasEnded ? 1000 : AGAIN) + SPREAD * Math.random());
}

show();
setInterval(() => {
  if (!document.hidden) show();
}, 1000);
document.addEventListener("parts-replaced", show);
document.addEventListener("visibilitychange", show);

// Updates what changes on a page: fetches it every few seconds and replaces each element with
// data-live, whose value is the seconds. With data-changes, another script refreshes the page.
// Without JavaScript it reloads itself.

import { jitter } from "./failures.js";
import { fetchPage } from "./fetching.js";
import { showLocal } from "./times.js";

/** @returns {Elements} */
const liveParts = () => document.querySelectorAll("[data-live]:not([data-live=''])");
/** The table that a page is about, as a small one only passes the time; or the place for one to watch. */
const TABLE = "[data-table]:not(.small), [data-tv]";
let failures = 0;

export async function refresh() {
  const fresh = await fetchPage(location.href);
  showLocal(fresh);
  if (fresh.querySelector(TABLE) && !document.querySelector(TABLE)) {
    location.reload(); // the new table needs its script
    return;
  }
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = fresh.getElementById(old.id);
    if (now) keepOpen(old, now);
    if (!now || now.isEqualNode(old)) continue;
    // A part with the keyboard focus stays until the focus leaves it.
    if (!old.contains(document.activeElement)) replace(old, now);
  }
  document.dispatchEvent(new Event("parts-replaced"));
}

async function poll() {
  if (!document.hidden) failures = await refresh().then(() => 0, () => failures + 1);
  plan();
}

/**
 * Replaces a part. A line with role=status stays if its words are the same, or the same but for
 * numbers: a screen reader reads a line that is new, not each count.
 * @param {Element} old
 * @param {Element} now
 */
function replace(old, now) {
  const fresh = now.querySelector("[role=status]");
  const kept = old.querySelector("[role=status]");
  if (fresh && kept) {
    if (words(fresh) === words(kept)) fresh.setAttribute("aria-live", "off");
    else fresh.removeAttribute("aria-live");
  }
  old.replaceWith(now);
}

/**
 * Opens and closes the details of a fresh part as the reader has set them.
 * @param {Element} old
 * @param {Element} now
 */
function keepOpen(old, now) {
  const name = (/** @type {Element} */ each) => each.id || each.querySelector("summary")?.textContent;
  const fresh = [...now.querySelectorAll("details")];
  for (const each of old.querySelectorAll("details")) {
    const same = fresh.find((one) => name(one) === name(each));
    if (same) same.open = each.open;
  }
}

/** @param {Element} line  @returns {string} its words without numbers */
function words(line) {
  return (line.textContent ?? "").replace(/\d+/g, "").replace(/\s+/g, " ").trim();
}

function plan() {
  const seconds = [...liveParts()].map((element) => Number(element.dataset.live));
  if (!seconds.length) return;
  setTimeout(poll, 1000 * Math.min(...seconds) * jitter() * 2 ** Math.min(failures, 5));
}

if (!document.querySelector("[data-changes]")) plan();

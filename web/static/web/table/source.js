// Where the phases of matches come from: one answer with all of them, or one event stream for all
// live tables of the page. A browser opens six connections to a host, and a page may have nine.

import { StatusError } from "../failures.js";

const LONGEST_PAUSE = 60;

/** Fetches JSON. @param {string} address */
export async function fetchAll(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new StatusError(answer);
  return answer.json();
}

/** @type {Map<number, {to: Follower, last: number}>} The matches in play, by id. */
const followed = new Map();
/** @type {EventSource|null} */
let stream = null;
let address = "";
let failures = 0;
let timer = 0;
let planned = false;

/**
 * Follows a match in play until its end.
 * @param {string} from  address of the event stream of several matches
 * @param {number} match
 * @param {Follower} to
 */
export function follow(from, match, to) {
  address = from;
  followed.set(match, { to, last: -1 });
  if (planned) return; // all tables that start in this moment share one connection
  planned = true;
  queueMicrotask(() => {
    planned = false;
    connect();
  });
}

/** Opens the stream after the last events that came; a hidden tab has no stream. */
function connect() {
  clearTimeout(timer);
  stream?.close();
  stream = null;
  if (!followed.size || document.hidden) return;
  const query = new URLSearchParams();
  const places = [];
  for (const [match, { last }] of followed) {
    query.append("match", String(match));
    if (last >= 0) places.push(`${match}:${last}`);
  }
  if (places.length) query.set("after", places.join(","));
  const opened = new EventSource(`${address}?${query}`);
  stream = opened;
  const mark = (/** @type {boolean} */ on) => {
    for (const { to } of followed.values()) to.state(on);
  };
  opened.addEventListener("open", () => {
    failures = 0;
    mark(true);
  });
  opened.addEventListener("phase", (event) => {
    const phase = JSON.parse(event.data);
    const of = followed.get(phase.match);
    if (!of || phase.ply <= of.last) return;
    of.last = phase.ply;
    of.to.phase(phase);
  });
  opened.addEventListener("clock", (event) => {
    const clock = JSON.parse(event.data);
    followed.get(clock.match)?.to.clock(clock);
  });
  opened.addEventListener("end", (event) => {
    const end = JSON.parse(event.data);
    const of = followed.get(end.match);
    followed.delete(end.match);
    if (!followed.size) opened.close();
    of?.to.end(end);
  });
  opened.addEventListener("error", () => {
    // The browser itself would try again every few seconds for ever.
    opened.close();
    if (stream !== opened || !followed.size) return;
    mark(false);
    failures += 1;
    const pause = Math.min(LONGEST_PAUSE, 2 ** (failures - 1)) * (0.8 + 0.4 * Math.random());
    timer = setTimeout(connect, 1000 * pause);
  });
}

document.addEventListener("visibilitychange", connect);

// Where the phases of live matches come from: one event stream for all live tables of the page. A
// browser opens six connections to a host, and a page may have nine.

import { Stream } from "../stream.js";

/** @type {Map<number, {to: Follower, last: number}>} The matches in play, by id. */
const followed = new Map();
let address = "";
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

/** Shows whether the stream is open. @param {boolean} on */
function mark(on) {
  for (const { to } of followed.values()) to.state(on);
}

const events = {
  phase(/** @type {StreamPhase} */ phase) {
    const of = followed.get(phase.match);
    if (!of || phase.ply <= of.last) return;
    of.last = phase.ply;
    of.to.phase(phase);
  },
  clock(/** @type {StreamClock} */ clock) {
    followed.get(clock.match)?.to.clock(clock);
  },
  end(/** @type {StreamEnd} */ end) {
    const of = followed.get(end.match);
    followed.delete(end.match);
    if (!followed.size) stream.close();
    of?.to.end(end);
  },
};
const stream = new Stream(events, {
  again: connect,
  opened() {
    stream.failures = 0;
    mark(true);
  },
  failed: () => mark(false),
  least: 1,
});

/** Opens the stream after the last events that came; a hidden tab has no stream. */
function connect() {
  stream.close();
  if (!followed.size || document.hidden) return;
  const query = new URLSearchParams();
  const places = [];
  for (const [match, { last }] of followed) {
    query.append("match", String(match));
    if (last >= 0) places.push(`${match}:${last}`);
  }
  if (places.length) query.set("after", places.join(","));
  stream.open(`${address}?${query}`);
}

document.addEventListener("visibilitychange", connect);

// Follows a page that the league changes: a stream sends each new revision of it, and the page is
// fetched again when it shows an older one. If the stream fails, the page is fetched regularly.

import { jitter } from "./failures.js";
import { Stream } from "./stream.js";

/** Failures of the stream in a row after which the page is fetched regularly. */
const ENOUGH = 2;
/** Milliseconds between two such fetches. */
const POLL = 4000;

/**
 * Follows the changes of this page for as long as it has a revision.
 * @param {string} address  of the stream
 * @param {() => string|undefined} shown  returns the revision that the page shows
 * @param {() => Promise<void>} refresh  fetches the page again and shows it; throws if that fails
 * @param {{least: number, spread: number}} pace  least milliseconds between two fetches, and the
 *   most between an event and a fetch, so that not all readers fetch in one moment
 */
export function followChanges(address, shown, refresh, { least, spread }) {
  let errors = 0; // of the fetches in a row
  /** @type {string|null} The newest revision; null while no stream sends them. */
  let newest = null;
  let fetching = 0; // the timer of the next fetch, -1 during a fetch
  let last = -Infinity; // when the last fetch ended

  const events = {
    revision(/** @type {{revision: string}} */ { revision }) {
      stream.failures = 0;
      newest = revision;
      plan();
    },
  };
  const stream = new Stream(events, {
    again: connect,
    failed() {
      newest = null;
      plan();
    },
  });

  function connect() {
    forget();
    stream.close();
    newest = null;
    if (document.hidden || shown() === undefined) return;
    plan();
    stream.open(address);
  }

  function forget() {
    if (fetching > 0) {
      clearTimeout(fetching);
      fetching = 0;
    }
  }

  /** Plans the next fetch if one is needed. */
  function plan() {
    const isOld = newest === null ? stream.failures >= ENOUGH : newest !== shown();
    if (!isOld) forget();
    if (fetching || !isOld) return;
    const usual = newest === null ? POLL : least;
    const rest = last + usual * jitter() * 2 ** Math.min(errors, 4) - performance.now();
    fetching = setTimeout(update, Math.max(rest, spread * Math.random()));
  }

  async function update() {
    fetching = -1;
    errors = await refresh().then(() => 0, () => errors + 1);
    fetching = 0;
    last = performance.now();
    if (shown() === undefined || document.hidden) connect(); // which closes the stream
    else plan();
  }

  document.addEventListener("visibilitychange", connect);
  connect();
}

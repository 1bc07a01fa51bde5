// The waiting room of a table, for players and guests: the list of people follows. The page loads
// again when the match starts, when the table closes, and when the last seat is taken or free.

import { followChanges } from "./changes.js";
import { isFinal } from "./failures.js";
import { fetchPage } from "./fetching.js";

const place = /** @type {HTMLElement} */ (document.getElementById("table"));
const PACE = { least: 500, spread: 200 };

const people = (/** @type {Element|null} */ root) => root?.querySelector(".rows")?.textContent;
const canJoin = (/** @type {Element|null} */ root) => root?.querySelector("form") !== null;

async function refresh() {
  const fresh = await fetchPage(location.pathname).catch((failure) => {
    if (isFinal(failure)) location.reload(); // the table is closed
    throw failure;
  });
  const part = fresh.getElementById("table");
  if (part?.dataset.state !== place.dataset.state || canJoin(part) !== canJoin(place)) {
    return location.reload();
  }
  const rows = part?.querySelector(".rows");
  if (rows && people(part) !== people(place)) place.querySelector(".rows")?.replaceWith(rows);
  place.dataset.revision = part?.dataset.revision;
  return undefined;
}

followChanges(place.dataset.changes ?? "", () => place.dataset.revision, refresh, PACE);

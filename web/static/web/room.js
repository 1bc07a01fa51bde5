// The waiting room of a table, for players and guests: the list of people follows. The page loads
// again when the match starts, when the table closes, and when the last seat is taken or free.

import { followChanges } from "./changes.js";

const place = /** @type {HTMLElement} */ (document.getElementById("table"));
const PACE = { least: 500, spread: 200 };

const people = (/** @type {Element|null} */ root) => root?.querySelector(".rows")?.textContent;
const canJoin = (/** @type {Element|null} */ root) => root?.querySelector("form") !== null;

async function refresh() {
  const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
  if (answer.status === 404) return location.reload(); // the table is closed
  if (!answer.ok) throw new Error(answer.statusText);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
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

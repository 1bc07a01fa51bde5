// The page of a running tournament: its parts follow the tournament's revisions.

import { followChanges } from "./changes.js";
import { refresh } from "./live.js";

const PACE = { least: 4000, spread: 1000 };

/** Returns the part that has the revision, until the tournament is over. */
const part = () => /** @type {HTMLElement|null} */ (document.querySelector("[data-changes]"));
let shown = part()?.dataset.revision;

async function update() {
  await refresh();
  // A part with the keyboard focus stays as it is. Then the page does not show the revision yet.
  // The focus may have come there while the page was fetched.
  if (!document.activeElement?.closest("[data-live]")) shown = part()?.dataset.revision;
}

if (shown) followChanges(part()?.dataset.changes ?? "", () => shown, update, PACE);

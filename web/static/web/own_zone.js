// A form that reads times in a zone starts with UTC; offer the reader's zone, and the times in it.

/** @param {ParentNode} root @param {string} those  @returns {NodeListOf<HTMLInputElement>} */
const all = (root, those) => root.querySelectorAll(those);

const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const zone of all(document, "input[data-own-zone]")) {
  if (zone.value !== "UTC" || !own || own === "UTC") continue;
  zone.value = own;
  for (const input of all(zone.form ?? document, "input[type='datetime-local']")) {
    const at = new Date(`${input.value}Z`);
    if (Number.isNaN(at.getTime())) continue;
    // Count in milliseconds: where the clocks change meanwhile, setMinutes is off by an hour.
    const shown = new Date(at.getTime() - 60_000 * at.getTimezoneOffset());
    input.value = shown.toISOString().slice(0, 16);
  }
}

// Folds what is over: details with data-over are open without this script, and it closes them on
// phones. What the reader opens or closes stays so while the page updates itself, and paper has all.

const phone = matchMedia("(max-width: 40rem)");
/** What the reader has set: whether each of these is open. @type {Map<string, boolean>} */
const chosen = new Map();

/** @returns {NodeListOf<HTMLDetailsElement>} */
const over = () => document.querySelectorAll("details[data-over]");

function fold() {
  for (const each of over()) each.open = chosen.get(each.id) ?? !phone.matches;
}

// Before the browser sets it, so that a change by this script is none of the reader's.
document.addEventListener("click", (event) => {
  const summary = event.target instanceof Element && event.target.closest("summary");
  const each = summary && summary.parentElement;
  if (each instanceof HTMLDetailsElement && each.id) chosen.set(each.id, !each.open);
});
document.addEventListener("parts-replaced", fold);
phone.addEventListener("change", fold);
addEventListener("beforeprint", () => {
  for (const each of over()) each.open = true;
});
addEventListener("afterprint", fold);
fold();

// Copies the link of the page; loaded at the first click.

import { element } from "./view.js";

/** @param {HTMLElement} copy  the button */
export async function copyLink(copy) {
  try {
    await navigator.clipboard.writeText(location.href);
  } catch {
    offerLink(copy); // without TLS there is no clipboard, or the browser forbids it
    return;
  }
  copy.textContent = "Link copied";
  setTimeout(() => { copy.textContent = "Copy link"; }, 2000);
}

/** Shows the link below its button, selected for the reader to copy. @param {HTMLElement} copy */
function offerLink(copy) {
  /** @type {HTMLInputElement|null|undefined} */
  let link = copy.parentElement?.querySelector(".copy-by-hand input");
  if (!link) {
    const line = element("label", "copy-by-hand");
    link = document.createElement("input");
    link.readOnly = true;
    line.append("Press Ctrl+C or ⌘C to copy the link: ", link);
    copy.after(line);
  }
  link.value = location.href;
  link.focus();
  link.select();
}

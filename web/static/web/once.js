// Sends each form once: a second press of its button, before the next page is there, does nothing.

/** Milliseconds after which a form can be sent again, for a reader who has stopped the first try. */
const PAUSE = 5000;

/** When each form was sent. @type {WeakMap<HTMLFormElement, number>} */
let sent = new WeakMap();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post") return;
  const now = performance.now();
  if (now - (sent.get(form) ?? -Infinity) < PAUSE) event.preventDefault();
  else sent.set(form, now);
});

// The reader comes back to the page.
addEventListener("pageshow", () => {
  sent = new WeakMap();
});

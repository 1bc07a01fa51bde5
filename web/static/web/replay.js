// Steps through a match without loading a page: all steps arrive once, rendered by the server. If
// that fails, the links load pages as they do without JavaScript.

const replay = document.querySelector(".replay");
const place = document.getElementById("step");
const links = Object.fromEntries(
  [...replay.querySelectorAll("[data-go]")].map((link) => [link.dataset.go, link]),
);
const jumps = new Map(
  [...document.querySelectorAll("[data-step]")].map((link) => [Number(link.dataset.step), link]),
);
const last = Number(replay.dataset.last);
let number = Number(replay.dataset.number);
let steps = null;

function targets() {
  return { first: 1, previous: Math.max(1, number - 1), next: Math.min(last, number + 1), last };
}

function show(wanted, { keep = false } = {}) {
  number = Math.min(Math.max(wanted, 1), last);
  const step = steps[number - 1];
  place.replaceChildren(step.content.cloneNode(true));
  for (const [name, to] of Object.entries(targets())) {
    links[name].href = `?step=${to}`;
    if (to === number) links[name].setAttribute("aria-disabled", "true");
    else links[name].removeAttribute("aria-disabled");
  }
  replay.querySelector("[data-at]").textContent = number;
  for (const [at, link] of jumps) {
    if (at === number) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  document.title = document.title.replace(/^(.*?)( · .*)? – /, `$1 · ${step.dataset.title} – `);
  if (!keep) history.pushState(null, "", `?step=${number}`);
}

function go(event, wanted) {
  if (!steps || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (wanted !== number) show(wanted);
}

for (const [name, link] of Object.entries(links)) {
  link.addEventListener("click", (event) => go(event, targets()[name]));
}
for (const [at, link] of jumps) link.addEventListener("click", (event) => go(event, at));

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea, [tabindex='0']")) return;
  const to = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" }[event.key];
  if (to) go(event, targets()[to]);
});
addEventListener("popstate", () => {
  const wanted = Number(new URLSearchParams(location.search).get("step")) || 1;
  if (steps) show(wanted, { keep: true });
  else location.reload();
});

const answer = await fetch(replay.dataset.steps);
if (answer.ok) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  steps = [...page.querySelectorAll("template")];
}

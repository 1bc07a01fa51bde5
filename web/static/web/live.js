// Keeps the parts of a page that change up to date: asks for the page again every few seconds, as
// often as an element's data-live says, and puts in what is new. Without JavaScript the page
// reloads itself.

const asked = () => document.querySelectorAll("[data-live]:not([data-live=''])");
let failures = 0;

async function refresh() {
  if (!document.hidden) {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(answer.statusText);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (fresh.querySelector(".replay")) {
        location.reload(); // the match has opened: everything about it is new
        return;
      }
      for (const old of document.querySelectorAll("[data-live]")) {
        const now = fresh.getElementById(old.id);
        if (!now || now.isEqualNode(old)) continue;
        // What somebody stands on with the keyboard stays until they leave it.
        if (!old.contains(document.activeElement)) old.replaceWith(now);
      }
      failures = 0;
    } catch {
      failures += 1;
    }
  }
  plan();
}

function plan() {
  const seconds = [...asked()].map((element) => Number(element.dataset.live));
  if (!seconds.length) return;
  const jitter = 0.8 + 0.4 * Math.random();
  setTimeout(refresh, 1000 * Math.min(...seconds) * jitter * 2 ** Math.min(failures, 5));
}

plan();

// The page of a trial that is not over: looks again each second, and loads the page when it is.

const place = () => document.getElementById("trial");

async function look() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.status >= 500) throw new Error(answer.statusText);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = fresh.getElementById("trial");
    if (!now || !["waiting", "playing"].includes(now.dataset.state ?? "")) {
      location.reload();
      return;
    }
    const line = now.querySelector("[role=status]")?.textContent ?? "";
    const shown = place()?.querySelector("[role=status]");
    if (shown && shown.textContent !== line) shown.textContent = line;
  } catch {
    // the next look may find the league again
  }
  setTimeout(look, 1000);
}

setTimeout(look, 500);

// The page of a trial that is not over: looks again each second, and loads the page when it is.

import { isFinal } from "./failures.js";
import { fetchPage } from "./fetching.js";

const place = () => document.getElementById("trial");

async function look() {
  try {
    const now = (await fetchPage(location.href)).getElementById("trial");
    if (!now || !["waiting", "playing"].includes(now.dataset.state ?? "")) {
      location.reload();
      return;
    }
    const line = now.querySelector("[role=status]")?.textContent ?? "";
    const shown = place()?.querySelector("[role=status]");
    if (shown && shown.textContent !== line) shown.textContent = line;
  } catch (failure) {
    if (isFinal(failure)) {
      location.reload(); // the trial is gone, and the page of the failure shows why
      return;
    }
  }
  setTimeout(look, 1000);
}

setTimeout(look, 500);

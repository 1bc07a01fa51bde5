// Starts every table of the page: `scene.js` folds events, `view.js` draws, `transport.js` plays.

import { Fold, frameOf, seenBy } from "./scene.js";
import { fetchAll, follow } from "./source.js";
import { Transport } from "./transport.js";
import { View } from "./view.js";

const MOVE = 350;
const LIVE_WAIT = 900;

/** A finished match: one fetch of all phases. @param {HTMLElement} table */
async function replay(table) {
  const match = await fetchAll(table.dataset.source);
  const fold = new Fold(match.names.length);
  for (const phase of match.phases) fold.add(phase);
  const view = new View(table);
  const small = table.dataset.small !== undefined;
  const asked = new URLSearchParams(small ? "" : location.search);
  const wanted = Number(asked.get("step"));
  const exact = asked.get("at");
  let viewer = null;
  let transport = null;
  const player = {
    frames: fold.frames,
    at: 0,
    jump: (step) => frameOf(fold.frames, step),
    show(at, { by }) {
      const before = player.at;
      player.at = at;
      const frame = fold.frames[at];
      const near = Math.abs(at - before) === 1;
      const duration = near ? MOVE / Math.max(1, transport ? transport.speed : 1) : 0;
      view.show(frame, seenBy(frame.scene, viewer), { viewer, duration });
      if (by === "hand" || frame.kind === "result") announce(table, frame);
      if (!transport) return;
      transport.update();
      cursor(table, frame.step);
      if (by === "hand") address(player);
      document.title = document.title.replace(/( · [^–]*)?( – )/, ` · ${view.title(frame)}$2`);
    },
  };
  if (!small) transport = new Transport(table, player);
  const begin = exact !== null && fold.frames[Number(exact)] ? Number(exact) : wanted ? player.jump(wanted) : 0;
  player.at = begin;
  player.show(begin, { by: "start" });
  if (small) return loop(table, player);
  const seats = table.querySelector("[data-viewer]");
  seats.addEventListener("change", () => {
    viewer = seats.value === "" ? null : Number(seats.value);
    player.show(player.at, { by: "view" });
  });
  const copy = table.querySelector("[data-copy]");
  copy?.addEventListener("click", async () => {
    address(player);
    await navigator.clipboard.writeText(location.href);
    copy.textContent = "Link copied";
    setTimeout(() => { copy.textContent = "Copy link"; }, 2000);
  });
  const check = document.querySelector(`[data-check="${table.id}"]`);
  if (check) offerCheck(check, match);
}

/** Plays a table without transport again and again, as long as motion is wanted. */
function loop(table, player) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    player.show(player.frames.length - 1, { by: "start" });
    return;
  }
  const waits = { result: 2600, end: 6000 };
  const next = () => {
    if (!table.isConnected) return;
    if (!document.hidden) player.show((player.at + 1) % player.frames.length, { by: "play" });
    setTimeout(next, waits[player.frames[player.at].kind] || 1200);
  };
  setTimeout(next, 1500);
}

/** A match in play: frames one after the other, as the phases come. @param {HTMLElement} table */
function live(table) {
  const view = new View(table);
  const fold = new Fold(view.seats.length);
  let shown = -1;
  let timer = 0;
  let ended = null;
  let since = Date.now();
  const show = (at, duration) => {
    shown = at;
    const frame = fold.frames[at];
    since = Date.now();
    view.show(frame, frame.scene, { viewer: null, duration });
    if (frame.kind === "result" || frame.kind === "end") announce(table, frame);
  };
  const next = () => {
    timer = 0;
    if (shown < fold.frames.length - 1) {
      // After a gap, only the last frames are shown one by one.
      const behind = fold.frames.length - 1 - shown;
      show(shown < 0 || behind > 12 ? fold.frames.length - 1 : shown + 1, behind > 12 ? 0 : MOVE);
      timer = setTimeout(next, LIVE_WAIT);
    } else if (ended) finish(table, ended, view.names);
  };
  const stop = follow(table.dataset.source, {
    phase(phase) {
      fold.add(phase);
      // The first phases come at once; draw when the last of them is there.
      if (!timer) timer = setTimeout(next, shown < 0 ? 50 : 0);
    },
    end(end) {
      ended = end;
      if (!timer) next();
    },
    state(on) {
      table.classList.toggle("offline", !on);
    },
  });
  const clock = setInterval(() => {
    if (!table.isConnected || ended) {
      clearInterval(clock);
      if (!table.isConnected) stop();
      return;
    }
    const seconds = Math.floor((Date.now() - since) / 1000);
    for (const line of table.querySelectorAll(".acts .does")) {
      if (seconds > 0) line.textContent = line.textContent.replace(/thinking.*/, `thinking, ${seconds} s`);
    }
  }, 1000);
}

function finish(table, end, names) {
  const line = table.querySelector(".live-state");
  if (!line) return;
  if (end.status === "finished") {
    const totals = names.map((name, seat) => `${name} ${end.scores[seat]}`).join(", ");
    line.replaceChildren(`The match is over: ${totals}. `);
    const link = document.createElement("a");
    link.href = table.dataset.page;
    link.textContent = "Watch the replay";
    line.append(link);
  } else line.textContent = "This match is void: it changes no rating.";
}

/** Says in one short sentence what changed, for screen readers. */
function announce(table, frame) {
  const status = table.querySelector("[role=status]");
  if (status) status.textContent = frame.lines.at(-1).slice(0, 200);
}

/** Puts the step into the address, so that the link of the page leads back to it. */
function address(player) {
  const { step } = player.frames[player.at];
  const at = player.jump(step) === player.at ? "" : `&at=${player.at}`;
  history.replaceState(null, "", `?step=${Math.max(1, step)}${at}`);
}

/** Moves the cursor of the chart of points. */
function cursor(table, step) {
  const svg = document.querySelector(`[data-points="${table.id}"] svg`);
  if (!svg) return;
  const grid = svg.querySelector(".grid");
  let line = svg.querySelector(".cursor");
  if (!line) {
    line = document.createElementNS(svg.namespaceURI, "line");
    line.setAttribute("class", "cursor");
    svg.append(line);
  }
  const [left, right] = [Number(grid.getAttribute("x1")), Number(grid.getAttribute("x2"))];
  const x = left + ((right - left) * step) / Number(table.dataset.last);
  for (const [name, value] of Object.entries({ x1: x, x2: x, y1: 12, y2: 194 })) {
    line.setAttribute(name, String(value));
  }
}

function offerCheck(place, match) {
  const button = place.querySelector("button");
  const verdict = place.querySelector("[role=status]");
  place.hidden = false;
  button.addEventListener("click", async () => {
    if (!globalThis.crypto?.subtle) {
      verdict.textContent = "This browser can check deals only over HTTPS. Download the record and check it with the engine.";
      return;
    }
    verdict.textContent = "Checking…";
    const { checkDeal } = await import("./deal_check.js");
    const found = await checkDeal(match);
    verdict.textContent = found.text;
    verdict.className = found.ok ? "verdict good" : "verdict bad";
  });
}

for (const table of document.querySelectorAll("[data-table]")) {
  if (table.dataset.table === "live") live(table);
  else replay(table).catch((error) => console.warn("The replay needs its links now:", error.message));
}

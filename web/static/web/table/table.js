// Starts every table of the page: `scene.js` folds events, `view.js` draws, `transport.js` plays.
// When its match has ended, a table sends the page the event "table-over".

import { Frames, LEAST_MOVE, MOVE } from "./frames.js";
import { Fold, frameOf, frameOfPly, seenBy, showsMoves } from "./scene.js";
import { fetchAll, follow } from "./source.js";
import { spoken } from "./spoken.js";
import { Transport, WAITS, press } from "./transport.js";
import { View } from "./view.js";

const LIVE_WAIT = 900;
const NARROW = matchMedia("(max-width: 46rem)");
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Starts a table that the server rendered. @param {HTMLElement} table */
export function start(table) {
  if (NARROW.matches) table.querySelector(".legend-below")?.removeAttribute("open");
  if (!table.dataset.source) return; // it stands still
  if (table.dataset.table === "live") live(table);
  else if (table.dataset.table === "replay") {
    const without = (error) => console.warn("The replay needs its links now:", error.message);
    replay(table).catch(without);
  }
}

/** A finished match: one fetch of all phases. @param {HTMLElement} table */
async function replay(table) {
  const match = await fetchAll(table.dataset.source);
  const fold = new Fold(match.names.length);
  for (const phase of match.phases) fold.add(phase);
  const view = new View(table);
  const small = table.dataset.small !== undefined;
  const asked = new URLSearchParams(small ? "" : location.search);
  const wanted = Number(small ? table.dataset.small : asked.get("step"));
  const exact = asked.get("at");
  let viewer = null;
  let transport = null;
  let beside = null;
  const player = {
    frames: fold.frames,
    at: 0,
    jump: (step) => frameOf(fold.frames, step),
    show(at, { by }) {
      const before = player.at;
      player.at = at;
      const frame = fold.frames[at];
      const near = Math.abs(at - before) === 1;
      const duration = near ? Math.max(LEAST_MOVE, MOVE / Math.max(1, transport ? transport.speed : 1)) : 0;
      view.show(frame, seenBy(frame.scene, viewer), { viewer, duration });
      if (by === "hand" || frame.kind === "result") announce(table, frame, view);
      if (!transport) return;
      transport.update();
      beside?.show();
      cursor(table, frame.step);
      if (by === "hand") address(player);
      document.title = document.title.replace(/( · [^–]*)?( – )/, ` · ${view.title(frame)}$2`);
    },
  };
  if (!small) transport = new Transport(table, player);
  const phase = asked.get("cards") ?? asked.get("ply");
  const judged = phase === null ? -1 : frameOfPly(fold.frames, Number(phase), asked.has("cards"));
  let begin = wanted ? player.jump(wanted) : 0;
  if (exact !== null && fold.frames[Number(exact)]) begin = Number(exact);
  else if (judged >= 0) begin = judged;
  player.at = begin;
  player.show(begin, { by: "start" });
  if (small) return loop(table, player);
  if (table.querySelector("#chances")) {
    const { Beside } = await import("./beside.js");
    beside = new Beside(table, player, transport);
    beside.show();
  }
  const seats = table.querySelector("[data-viewer]");
  seats.addEventListener("change", () => {
    viewer = seats.value === "" ? null : Number(seats.value);
    player.show(player.at, { by: "view" });
  });
  const copy = table.querySelector("[data-copy]");
  copy?.addEventListener("click", async () => {
    address(player);
    try {
      await navigator.clipboard.writeText(location.href);
    } catch {
      offerLink(copy); // without TLS there is no clipboard, or the browser forbids it
      return;
    }
    copy.textContent = "Link copied";
    setTimeout(() => { copy.textContent = "Copy link"; }, 2000);
  });
  const check = document.querySelector(`[data-check="${table.id}"]`);
  if (check) offerCheck(check, match);
}

/** Shows the link below its button, selected for the reader to copy. */
function offerLink(copy) {
  let line = copy.parentElement.querySelector(".copy-by-hand");
  if (!line) {
    line = document.createElement("label");
    line.className = "copy-by-hand";
    const link = document.createElement("input");
    link.readOnly = true;
    line.append("Press Ctrl+C or ⌘C to copy the link: ", link);
    copy.after(line);
  }
  const link = line.querySelector("input");
  link.value = location.href;
  link.focus();
  link.select();
}

/** Plays a small table by itself, again and again, until somebody pauses it. */
function loop(table, player) {
  const button = table.querySelector("[data-play]");
  const last = player.frames.length - 1;
  let timer = 0;
  const plan = (wait) => {
    timer = setTimeout(next, wait);
  };
  const next = () => {
    if (!table.isConnected) return;
    if (document.hidden) plan(1000);
    else if (player.at < last) {
      player.show(player.at + 1, { by: "play" });
      plan(player.at < last ? WAITS[player.frames[player.at].kind] : 2 * WAITS.end);
    } else {
      over(table);
      player.at = -1; // unless the page shows another match now, this one plays from its beginning
      plan(WAITS.end);
    }
  };
  const play = (on) => {
    clearTimeout(timer);
    press(button, on);
    if (on) plan(WAITS.deal);
  };
  button.hidden = false;
  button.addEventListener("click", () => play(button.getAttribute("aria-pressed") !== "true"));
  play(!still.matches);
}

/** A match in play: frames one after the other, as the phases come. @param {HTMLElement} table */
function live(table) {
  const view = new View(table);
  let ended = null;
  let past = null;
  const draw = (frame, duration) => view.show(frame, frame.scene, { viewer: null, duration });
  const frames = new Frames(view.seats.length, {
    show(frame, duration) {
      past?.update();
      const isPast = past !== null && past.isOpen; // the spectator looks back: the view stays
      if (!isPast) draw(frame, duration);
      if (isPast && frame.kind !== "end") return;
      if (frame.kind === "result" || frame.kind === "end") announce(table, frame, view);
    },
    wait: () => LIVE_WAIT,
    idle() {
      if (ended) finish(table, ended, view);
    },
  });
  if (table.querySelector("[data-past]")) {
    // Small tables, on the home page and the wall, do not load it.
    import("./past.js").then(({ Past }) => {
      past = new Past(table, frames, (frame, isNear) => {
        draw(frame, isNear ? MOVE : 0);
        announce(table, frame, view);
      });
    });
  }
  follow(table.dataset.source, Number(table.dataset.match), {
    phase: (phase) => frames.add(phase),
    clock: (clock) => view.clock(clock.remaining_ms),
    end(end) {
      ended = end;
      view.clock(null);
      if (frames.isIdle) finish(table, ended, view);
    },
    state: (on) => table.classList.toggle("offline", !on),
  });
}

function finish(table, end, view) {
  const line = table.querySelector(".live-state");
  if (end.status === "finished") {
    const totals = view.names.map((name, seat) => `${name} ${end.scores[seat]}`).join(", ");
    line.replaceChildren(`The match is over: ${totals}. `);
    const link = document.createElement("a");
    link.href = table.dataset.page;
    link.textContent = "Watch the replay";
    line.append(link);
  } else line.textContent = "This match is void: it changes no rating.";
  over(table);
}

function over(table) {
  table.dispatchEvent(new CustomEvent("table-over", { bubbles: true }));
}

/** Writes what changed for screen readers. */
function announce(table, frame, view) {
  const status = table.querySelector("[role=status]");
  if (status) status.textContent = spoken(frame, view.names);
}

/**
 * Puts the step into the address, so that the link of the page leads back to it. Without JavaScript
 * the page shows the same decision by the ply of its phase, or the cards that came after it.
 */
function address(player) {
  const frame = player.frames[player.at];
  const { step } = frame;
  const query = new URLSearchParams(location.search);
  query.set("step", String(Math.max(1, step)));
  for (const name of ["at", "ply", "cards"]) query.delete(name);
  if (player.jump(step) !== player.at) {
    query.set(showsMoves(frame) ? "ply" : "cards", String(frame.ply));
    if (frameOfPly(player.frames, frame.ply, !showsMoves(frame)) !== player.at) query.set("at", String(player.at));
  }
  history.replaceState(null, "", `?${query}`);
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

for (const table of document.querySelectorAll("[data-table]")) start(table);

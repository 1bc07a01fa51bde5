// Starts every table of the page: `scene.js` folds events, `view.js` draws, `transport.js` plays.
// When its match has ended, a table sends the page the event "table-over".

import { Frames, LEAST_MOVE, MOVE } from "./frames.js";
import { Fold, frameOf, frameOfPly, seenBy, showsMoves } from "./scene.js";
import { fetchAll, follow } from "./source.js";
import { spoken } from "./spoken.js";
import { Transport, WAITS, press } from "./transport.js";
import { View, element, part, parts } from "./view.js";

const LIVE_WAIT = 900;
const NARROW = matchMedia("(max-width: 46rem)");
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Starts a table that the server rendered. @param {HTMLElement} table */
export function start(table) {
  if (NARROW.matches) table.querySelector(".legend-below")?.removeAttribute("open");
  if (!table.dataset.source) return; // it stands still
  if (table.dataset.table === "live") live(table);
  else if (table.dataset.table === "replay") {
    replay(table).catch(({ message }) => console.warn("The replay needs its links now:", message));
  }
}

/** A finished match: one fetch of all phases. @param {HTMLElement} table */
async function replay(table) {
  /** @type {Replay} */
  const match = await fetchAll(`${table.dataset.source}`);
  const fold = new Fold(match.names.length);
  for (const phase of match.phases) fold.add(phase);
  const view = new View(table);
  const small = table.dataset.small !== undefined;
  const asked = new URLSearchParams(small ? "" : location.search);
  const wanted = Number(small ? table.dataset.small : asked.get("step"));
  const exact = asked.get("at");
  /** @type {number|null} */
  let viewer = null;
  /** @type {Transport|null} */
  let transport = null;
  /** @type {Beside|null} */
  let beside = null;
  /** @type {Player} */
  const player = {
    frames: fold.frames,
    at: 0,
    jump: (step) => frameOf(fold.frames, step),
    show(at, { by }) {
      const before = player.at;
      player.at = at;
      const frame = fold.frames[at];
      const near = Math.abs(at - before) === 1;
      const duration = near ? Math.max(LEAST_MOVE, MOVE / Math.max(1, transport?.speed ?? 1)) : 0;
      view.show(frame, seenBy(frame.scene, viewer), { viewer, duration });
      if (by === "hand" || frame.kind === "result") announce(frame, view);
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
  if (!transport) return loop(table, player);
  if (table.querySelector("#chances")) {
    const { Beside } = await import("./beside.js");
    beside = new Beside(table, player, transport);
    beside.show();
  }
  /** @type {HTMLSelectElement} */
  const seats = part(table, "[data-viewer]");
  seats.addEventListener("change", () => {
    viewer = seats.value === "" ? null : Number(seats.value);
    player.show(player.at, { by: "view" });
  });
  for (const copy of parts(table, "[data-copy]")) {
    copy.addEventListener("click", async () => {
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
  }
  for (const place of parts(document, `[data-check="${table.id}"]`)) offerCheck(place, match);
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

/** Plays a small table again and again, until somebody pauses it. @param {HTMLElement} table @param {Player} player */
function loop(table, player) {
  const button = part(table, "[data-play]");
  const last = player.frames.length - 1;
  let timer = 0;
  const plan = (wait = WAITS.end) => {
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
      plan();
    }
  };
  const play = (on = true) => {
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
  /** @type {StreamEnd|null} */
  let ended = null;
  /** @type {Past|null} */
  let past = null;
  /** @param {Frame} frame @param {number} duration */
  const draw = (frame, duration) => view.show(frame, frame.scene, { viewer: null, duration });
  const frames = new Frames(view.seats.length, {
    show(frame, duration) {
      past?.update();
      const isPast = past !== null && past.isOpen; // the spectator looks back: the view stays
      if (!isPast) draw(frame, duration);
      if (isPast && frame.kind !== "end") return;
      if (["result", "end"].includes(frame.kind)) announce(frame, view);
    },
    wait: () => LIVE_WAIT,
    idle() {
      if (ended) finish(ended, view);
    },
  });
  if (table.querySelector("[data-past]")) {
    // Small tables, on the home page and the wall, do not load it.
    import("./past.js").then(({ Past }) => {
      past = new Past(table, frames, (frame, isNear) => {
        draw(frame, isNear ? MOVE : 0);
        announce(frame, view);
      });
    });
  }
  follow(`${table.dataset.source}`, Number(table.dataset.match), {
    phase: (phase) => frames.add(phase),
    clock: (clock) => view.clock(clock.remaining_ms),
    end(end) {
      ended = end;
      view.clock(null);
      if (frames.isIdle) finish(end, view);
    },
    state: (on) => table.classList.toggle("offline", !on),
  });
}

/** @param {StreamEnd} end @param {View} view */
function finish(end, { table, names }) {
  const line = part(table, ".live-state");
  if (end.status === "finished") {
    const totals = names.map((name, seat) => `${name} ${end.scores[seat]}`).join(", ");
    line.replaceChildren(`The match is over: ${totals}. `);
    const link = document.createElement("a");
    link.href = table.dataset.page ?? "";
    link.textContent = "Watch the replay";
    line.append(link);
  } else line.textContent = "This match is void: it changes no rating.";
  over(table);
}

/** @param {HTMLElement} table */
function over(table) {
  table.dispatchEvent(new CustomEvent("table-over", { bubbles: true }));
}

/** Writes what changed for screen readers. @param {Frame} frame @param {View} view */
function announce(frame, { table, names }) {
  const status = table.querySelector("[role=status]");
  if (status) status.textContent = spoken(frame, names);
}

/**
 * Puts the step into the address, so that the link of the page leads back to it. Without JavaScript
 * the page shows the same decision by the ply of its phase, or the cards that came after it.
 * @param {Player} player
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

/** Moves the cursor of the chart of points. @param {HTMLElement} table @param {number} step */
function cursor(table, step) {
  const svg = document.querySelector(`[data-points="${table.id}"] svg`);
  if (!svg) return;
  const grid = part(svg, ".grid");
  let line = svg.querySelector(".cursor");
  if (!line) {
    line = document.createElementNS(svg.namespaceURI, "line");
    line.setAttribute("class", "cursor");
    svg.append(line);
  }
  const [left, right] = ["x1", "x2"].map((name) => Number(grid.getAttribute(name)));
  const x = left + ((right - left) * step) / Number(table.dataset.last);
  for (const [name, value] of Object.entries({ x1: x, x2: x, y1: 12, y2: 194 })) {
    line.setAttribute(name, String(value));
  }
}

/** @param {HTMLElement} place @param {Replay} match */
function offerCheck(place, match) {
  const button = part(place, "button");
  const verdict = part(place, "[role=status]");
  place.hidden = false;
  button.addEventListener("click", async () => {
    verdict.textContent = "Checking…";
    const { checkDeal } = await import("./deal_check.js");
    const { ok, text } = await checkDeal(match);
    verdict.textContent = text;
    if (ok !== null) verdict.className = ok ? "verdict good" : "verdict bad";
  });
}

for (const table of parts(document, "[data-table]")) start(table);

// Starts every table of the page: a replay, or a match in play (`in_play.js`).
// When its match has ended, a table sends the page the event "table-over".

import { growingPause, isFinal } from "../failures.js";
import { fetchJson } from "../fetching.js";
import { frameOf, frameOfPly, seenBy, showsMoves } from "./replayed.js";
import { Fold } from "./scene.js";
import { announce } from "./spoken.js";
import { LEAST_MOVE, MOVE, part, parts, View } from "./view.js";

const NARROW = matchMedia("(max-width: 43rem)");

/** @type {Promise<typeof import("./in_play.js")>|undefined} A page without live matches does not load it. */
let inPlay;

/**
 * Starts a table that the server rendered.
 * @param {HTMLElement} table
 * @param {number} [failures]  so often its replay could not be loaded
 */
export function start(table, failures = 0) {
  if (NARROW.matches) table.querySelector(".legend-below")?.removeAttribute("open");
  if (!table.dataset.source) return; // it stands still
  if (table.dataset.table === "live") {
    inPlay ??= import("./in_play.js");
    inPlay.then(({ live }) => live(table));
  } else if (table.dataset.table === "replay") {
    replay(table).catch((failure) => {
      console.warn("The replay needs its links now:", failure.message);
      if (table.dataset.small === undefined || isFinal(failure)) return;
      // A small table has no links, and nobody loads the page of a projector again.
      setTimeout(() => table.isConnected && start(table, failures + 1), growingPause(failures));
    });
  }
}

/** A finished match: one fetch of all phases. @param {HTMLElement} table */
async function replay(table) {
  /** @type {Replay} */
  const match = await fetchJson(`${table.dataset.source}`);
  const fold = new Fold(match.names.length);
  for (const phase of match.phases) fold.add(phase);
  const view = new View(table);
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
      cursor(table, at ? frame.step : 0); // the deal comes before step 1
      if (by === "hand") address(player);
      document.title = document.title.replace(/( · [^·–]*)?( – [^–]*)$/, ` · ${view.title(frame)}$2`);
    },
  };
  if (table.dataset.small === undefined) {
    const { Transport } = await import("./transport.js");
    transport = new Transport(table, player);
  }
  player.at = beginOf(table, fold.frames);
  player.show(player.at, { by: "start" });
  if (!transport) return (await import("./loop.js")).loop(table, player);
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
      const { copyLink } = await import("./copying.js");
      await copyLink(copy);
    });
  }
  for (const place of parts(document, `[data-check="${table.id}"]`)) offerCheck(place, match);
}

/**
 * Returns the frame at which a table begins: the one of the address, or of the data of a small table.
 * @param {HTMLElement} table @param {Frame[]} frames
 */
function beginOf(table, frames) {
  const { small } = table.dataset;
  const asked = new URLSearchParams(small === undefined ? location.search : { step: small });
  const exact = asked.get("at");
  if (exact !== null && frames[Number(exact)]) return Number(exact);
  const ply = asked.get("cards") ?? asked.get("ply");
  const judged = ply === null ? -1 : frameOfPly(frames, Number(ply), asked.has("cards"));
  if (judged >= 0) return judged;
  const step = Number(asked.get("step"));
  return step ? frameOf(frames, Math.min(step, Number(table.dataset.last))) : 0; // as the server does
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

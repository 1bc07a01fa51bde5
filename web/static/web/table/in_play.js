// Shows a match in play: its phases come by the stream of the page (`source.js`).

import { Frames } from "./frames.js";
import { entitle, leading, ofVoid, result } from "./headline.js";
import { follow } from "./source.js";
import { announce } from "./spoken.js";
import { MOVE, over, part, View } from "./view.js";

const LIVE_WAIT = 900;

/** Shows frames one after the other, as the phases come. @param {HTMLElement} table */
export function live(table) {
  const view = new View(table);
  /** @type {StreamEnd|null} */
  let ended = null;
  /** @type {Past|null} */
  let past = null;
  /** @param {Frame} frame @param {number} duration */
  const draw = (frame, duration) => view.show(frame, frame.scene, { viewer: null, duration });
  const frames = new Frames(view.seats.length, {
    show(frame, duration) {
      const { scene, kind } = frame;
      const points = scene.seats.map((seat) => seat.points);
      const begun = frames.fold.frames[0].scene.seats.map((seat) => seat.points);
      if (kind !== "end") entitle(table, leading(view.names, points, begun));
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
    line.replaceChildren(table.dataset.small === undefined ? "The match is over. " : "");
    table.classList.add("ended");
    const link = document.createElement("a");
    link.href = table.dataset.page ?? "";
    link.textContent = "Watch the replay";
    line.append(link);
    entitle(table, result(names, end));
    over(table, "finished");
  } else {
    line.textContent = "This match is void: it changes no rating.";
    entitle(table, ofVoid(names));
    over(table, "void");
  }
}

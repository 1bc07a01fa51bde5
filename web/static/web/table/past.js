// Looks back at a live match: the view stays at an earlier frame while the match goes on.

import { isPlain, takesKeys } from "./transport.js";
import { part } from "./view.js";

/** Shows what a press of a button or key shows: a frame of the past, or live play again. */
export class Past {
  /**
   * @param {HTMLElement} table
   * @param {Frames} frames  of the live match
   * @param {(frame: Frame, isNear: boolean) => void} draw
   *   isNear: cards move there, as the view showed the frame beside it
   */
  constructor(table, frames, draw) {
    this.frames = frames;
    this.draw = draw;
    this.table = table;
    /** @type {number|null} The frame that the view shows; null for live play. */
    this.at = null;
    this.bar = part(table, "[data-past]");
    this.where = part(this.bar, "[data-where]");
    /** @type {HTMLButtonElement[]} */
    this.buttons = [...this.bar.querySelectorAll("button")];
    for (const button of this.buttons) {
      button.addEventListener("click", () => this.go(button.dataset.past ?? ""));
    }
    document.addEventListener("keydown", (event) => this.key(event));
    this.bar.hidden = false;
    this.update();
  }

  /** @returns {boolean} whether the view shows an earlier frame */
  get isOpen() {
    return this.at !== null;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!isPlain(event) || !takesKeys(this.table, event.target)) return;
    const name = { ArrowLeft: "back", ArrowRight: "forward", End: "live" }[event.key];
    if (!name) return;
    event.preventDefault();
    this.go(name);
  }

  /**
   * Goes a frame back or forward, or to live play. A step forward from the newest frame is live.
   * @param {string} name  "back", "forward" or "live"
   */
  go(name) {
    const { shown } = this.frames;
    const from = this.at ?? shown;
    const to = { back: Math.max(0, from - 1), forward: from + 1 }[name] ?? shown;
    if (shown < 0 || to === from || (!this.isOpen && to > shown)) return;
    this.at = to < shown ? to : null;
    this.draw(this.frames.fold.frames[Math.min(to, shown)], Math.abs(to - from) === 1);
    this.update();
  }

  /** Shows in the bar where the view is, and which buttons do something. */
  update() {
    const { shown } = this.frames;
    this.table.classList.toggle("looks-back", this.isOpen);
    const behind = shown - (this.at ?? shown);
    const [past, live] = this.bar.querySelectorAll("[data-if]");
    past.toggleAttribute("hidden", !this.isOpen);
    live.toggleAttribute("hidden", this.isOpen);
    this.where.textContent = `${behind} ${behind === 1 ? "step" : "steps"} behind`;
    /** @type {Record<string, boolean>} */
    const idle = { back: (this.at ?? shown) < 1, forward: !this.isOpen, live: !this.isOpen };
    for (const button of this.buttons) {
      // A button with the focus keeps it, so it is not disabled but marked.
      button.setAttribute("aria-disabled", String(idle[button.dataset.past ?? ""]));
    }
  }
}

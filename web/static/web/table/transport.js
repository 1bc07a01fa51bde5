// Plays frames: play and pause, speed, step, jump, keyboard.

import { part, parts, press, stay } from "./view.js";

/** @param {MouseEvent|KeyboardEvent} event  @returns {boolean} whether no other key is held */
export function isPlain(event) {
  return !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
}

/**
 * Returns whether keys are meant for a table: the focus is in it, or it is the only one.
 * @param {HTMLElement} table
 * @param {EventTarget|null} focus
 */
export function takesKeys(table, focus) {
  if (!(focus instanceof Element)) return false;
  if (focus.closest("input, select, textarea, [tabindex='0']")) return false;
  const within = focus.closest("[data-table]");
  return within ? within === table : parts(document, ".transport").length === 1;
}

export class Transport {
  /** @param {HTMLElement} table @param {Player} player */
  constructor(table, player) {
    this.table = table;
    this.player = player;
    this.timer = 0;
    this.speed = 1;
    this.button = part(table, "[data-play]");
    /** @type {HTMLInputElement} */
    this.seek = part(table, "[data-seek]");
    for (const each of parts(table, ".transport [hidden]:not([data-turn]), .viewing [hidden]")) each.hidden = false;
    this.seek.max = String(player.frames.length - 1);
    this.button.addEventListener("click", () => this.toggle());
    this.seek.addEventListener("input", () => this.go(Number(this.seek.value)));
    /** @type {HTMLSelectElement} */
    const speed = part(table, "[data-speed]");
    speed.addEventListener("change", () => {
      this.speed = Number(speed.value);
      if (this.timer) this.plan();
    });
    for (const link of parts(table, "[data-go]")) {
      link.addEventListener("click", (event) => this.click(event, () => this.target(link.dataset.go)));
    }
    for (const link of this.jumps()) {
      const step = Number(link.dataset.step);
      link.addEventListener("click", (event) => this.click(event, () => player.jump(step)));
    }
    document.addEventListener("keydown", (event) => this.key(event));
  }

  jumps() {
    return parts(document, `.jump[data-of="${this.table.id}"] [data-step]`);
  }

  target(name = "") {
    const { at, frames } = this.player;
    const last = frames.length - 1;
    return { first: 0, previous: Math.max(0, at - 1), next: Math.min(last, at + 1), last }[name] ?? at;
  }

  /** @param {MouseEvent} event @param {() => number} where */
  click(event, where) {
    if (!isPlain(event)) return;
    event.preventDefault();
    this.go(where());
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!isPlain(event) || !takesKeys(this.table, event.target)) return;
    if (event.key === " ") {
      if (/** @type {Element} */ (event.target).closest("a, button, summary")) return;
      event.preventDefault();
      this.toggle();
      return;
    }
    const name = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" }[event.key];
    if (!name) return;
    event.preventDefault();
    this.go(this.target(name));
  }

  go(at = 0) {
    this.pause();
    if (at !== this.player.at) this.player.show(at, { by: "hand" });
  }

  toggle() {
    if (this.timer) return this.pause();
    if (this.player.at === this.player.frames.length - 1) this.player.show(0, { by: "play" });
    press(this.button, true);
    return this.plan(300);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    press(this.button, false);
  }

  plan(wait = stay(this.player.frames[this.player.at])) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { at, frames } = this.player;
      if (at < frames.length - 1) this.player.show(at + 1, { by: "play" });
      if (this.player.at < frames.length - 1) this.plan();
      else this.pause();
    }, wait / this.speed);
  }

  /** The position in words: the deal comes before the first step. */
  get where() {
    const { at, frames } = this.player;
    return at ? `Step ${frames[at].step}` : "Deal";
  }

  /** Shows where the player is. */
  update() {
    const { at, frames } = this.player;
    const step = at ? frames[at].step : 0;
    this.seek.value = String(at);
    this.seek.setAttribute("aria-valuetext", this.where);
    part(this.table, "[data-at]").textContent = at ? `${this.where} of ${this.table.dataset.last}` : this.where;
    for (const link of parts(this.table, "[data-go]")) {
      if (this.target(link.dataset.go) === at) link.setAttribute("aria-disabled", "true");
      else link.removeAttribute("aria-disabled");
    }
    for (const link of this.jumps()) {
      if (Number(link.dataset.step) === step) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
  }
}

// A match as the player of one seat sees it: fetches what is new and shows it at the table.

import { fetchJson } from "../fetching.js";
import { Frames } from "./frames.js";
import { nameOf, resting, resultFor } from "./scene.js";
import { View, still } from "./view.js";

const WAIT = 650;

export class Seated {
  /**
   * @param {HTMLElement} table
   * @param {(answer: Answer) => void} settled  called when the table shows all of an answer
   */
  constructor(table, settled) {
    this.table = table;
    this.own = Number(table.dataset.own);
    this.view = new View(table, this.own);
    this.settled = settled;
    this.last = -1;
    /** @type {Answer|null} */
    this.answer = null;
    this.cameAt = 0; // when the answer came, by performance.now()
    this.asked = 0; // the last request, and the newest one answered
    this.newest = 0;
    this.exchange = "";
    /** @type {string[]} */
    this.news = [];
    this.frames = new Frames(this.view.seats.length, {
      show: (frame, duration) => this.show(frame, duration),
      wait: () => (still.matches || document.hidden ? 0 : WAIT),
      idle: () => this.settle(),
    });
  }

  /** The buttons of the own hand. @returns {HTMLButtonElement[]} */
  get cards() {
    return [.../** @type {NodeListOf<HTMLButtonElement>} */ (
      this.table.querySelectorAll(".at-0 .hand button")
    )];
  }

  /** Fetches what is new; returns the answer, or a newer one that came before it. */
  async refresh(query = "") {
    const asked = ++this.asked;
    /** @type {Answer|NoAnswer} */
    const answer = await fetchJson(`${this.table.dataset.source}?after=${this.last}${query}`);
    if (answer.state !== "playing") return answer;
    if (this.answer && asked < this.newest) return this.answer;
    this.newest = asked;
    this.answer = answer;
    this.cameAt = performance.now();
    for (const phase of answer.phases) {
      if (phase.ply <= this.last) continue; // another answer brought it
      this.last = phase.ply;
      this.news.push(...phase.news);
      this.exchange = this.exchangeIn(phase.events) || this.exchange;
      this.frames.add(phase);
    }
    if (this.frames.isIdle) this.settle();
    return answer;
  }

  /** Returns the sentences on what happened since the last call. */
  takeNews() {
    const news = this.news;
    this.news = [];
    return news;
  }

  /**
   * Returns which cards the player gave and received, as a sentence; "" without an exchange.
   * @param {GameEvent[]} events
   */
  exchangeIn(events) {
    const gifts = events.filter((event) => event.kind === "card_given");
    const given = gifts.find(({ seat }) => seat === this.own);
    const received = gifts.find(({ to }) => to === this.own);
    if (!given || !received) return "";
    const { names } = this.view;
    return (
      `You gave ${nameOf(given.rank)} to ${names[given.to]} and received ` +
      `${nameOf(received.rank)} from ${names[received.seat]}.`
    );
  }

  /**
   * Shows a frame; the last result stays until the player's next move.
   * @param {Frame} frame @param {number} duration
   */
  show(frame, duration) {
    const frames = this.frames.fold.frames;
    const result = resultFor(frames, this.frames.shown, this.own);
    const since = ["deal", "result"].includes(frame.kind) ? [] : frame.lines;
    // A clear felt shows the last day or trick.
    const isClear = frame.scene.seats.every(({ plays, order }) => !plays.length && !order);
    const rests = result && isClear ? { scene: resting(frame.scene, result.scene), kind: result.kind, after: true } : {};
    let lines = result ? [(isClear ? "" : `${result.part}: `) + result.lines.join(" "), ...since] : frame.lines;
    if (frame.kind === "give" && this.exchange) lines = [this.exchange];
    const shown = { ...frame, lines, ...rests };
    this.view.show(shown, shown.scene, { viewer: this.own, duration });
  }

  /** Shows for whom the match waits now, and hands the answer on. */
  settle() {
    const frame = /** @type {Frame} */ (this.frames.fold.frames.at(-1));
    if (!this.answer) return;
    const { acts, notes } = this.answer;
    const seats = frame.scene.seats.map((seat, at) => ({ ...seat, acts: acts.includes(at) }));
    this.show({ ...frame, scene: { ...frame.scene, seats } }, 0);
    for (const [seat, note] of Object.entries(notes)) {
      const line = this.table.querySelector(`[data-seat="${seat}"] .note`);
      if (line) line.textContent = String(note);
    }
    this.settled(this.answer);
  }
}

// Draws a scene into the table that the server rendered, and moves the cards that changed place.

import { countSeconds } from "../time_left.js";

/** Whether the reader wants less motion. */
export const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Milliseconds that a card moves. */
export const MOVE = 350;
/** The same at a higher speed, at least. */
export const LEAST_MOVE = 200;

/** Milliseconds that a frame of each kind stays, at least. */
export const WAITS = { deal: 1100, give: 1300, play: 1100, result: 2600, end: 3000 };
/** Milliseconds for each letter of a result, and for all at most. */
const LETTER = 35, LONGEST = 7000;

/** Returns the milliseconds that a frame stays: a long result longer. @param {Frame} frame */
export function stay({ kind, lines }) {
  const letters = kind === "result" ? lines.join(" ").length : 0;
  return Math.max(WAITS[kind], Math.min(letters * LETTER, LONGEST));
}

/** @type {Record<string, string>} */
const SAID = { fresh: ", new", scored: ", scores", cancelled: ", cancelled", wins: ", wins" };

/** @param {string} tag @param {string} className @param {string} [text] */
export function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Returns an element that the page has. @type {Find} */
export const part = (root, selector) => /** @type {any} */ (root.querySelector(selector));
/** @type {FindAll} */
export const parts = (root, selector) => root.querySelectorAll(selector);

/** Marks equal cards side by side: piles with their number. @param {HTMLElement[]} items */
function pile(items) {
  let count = 0;
  items.forEach((item, at) => {
    count += 1;
    const rank = (next = 0) => items[at + next]?.children[0].className.split(" ")[1];
    const below = rank() !== "back" && rank() === rank(1);
    item.classList.toggle("below", below);
    if (below || count < 2) delete item.dataset.count;
    else item.dataset.count = String(count);
    if (!below) count = 0;
  });
  return items;
}

/** Puts items into a list in order; an item that stays keeps the focus. @param {Element} list @param {Element[]} items */
function arrange(list, items) {
  const kept = new Set(items);
  for (const old of [...list.children]) if (!kept.has(old)) old.remove();
  items.forEach((item, at) => {
    if (list.children[at] !== item) list.insertBefore(item, list.children[at] ?? null);
  });
}

/** Shows whether a button plays now. @param {HTMLElement} button @param {boolean} on */
export function press(button, on) {
  button.setAttribute("aria-pressed", String(on));
  button.setAttribute("aria-label", on ? "Pause" : "Play");
  button.title = on ? "Pause" : "Play";
}

/** Returns what an answer to a lead must fulfil. @param {Lead} lead */
export function rule({ kind, low }) {
  const limit = low === 1 ? "" : " or lower";
  if (kind === "single") return `Answer: one card, ${low}${limit}`;
  return kind === "set" ? `Answer: a set of ${low}s${limit}` : `Answer: a straight with a lowest card of ${low}${limit}`;
}

/** Sends the page the event that a match has ended. @param {HTMLElement} table @param {"finished"|"void"} how */
export function over(table, how) {
  table.dispatchEvent(new CustomEvent("table-over", { bubbles: true, detail: how }));
}

export class View {
  /**
   * @param {HTMLElement} table
   * @param {number|null} own  seat whose cards are buttons
   */
  constructor(table, own = null) {
    this.table = table;
    this.own = own;
    this.stopClock = () => {};
    this.felt = part(table, ".felt");
    this.seats = [...parts(table, ".seat")];
    this.names = this.seats.map((seat) => part(seat, ".name").textContent.trim());
    /** @type {Map<string, HTMLElement>} */
    this.cards = new Map();
    this.used = new Set();
    this.parts = Number(table.dataset.parts);
  }

  /** @param {Frame} frame */
  title({ scene, kind, after }) {
    if (scene.over) return scene.day ? "The end: hands are counted" : "The end";
    if (scene.day) return `${after ? "After d" : "D"}ay ${scene.day} of ${this.parts}`;
    const trick = kind === "deal" ? "the deal" : `trick ${scene.trick}`;
    return `${after ? "After r" : "R"}ound ${scene.round} of ${this.parts}, ${trick}`;
  }

  /**
   * Shows a frame.
   * @param {Frame} frame
   * @param {Scene} scene the frame's scene as the viewer sees it
   * @param {{viewer: number|null, duration: number}} how milliseconds that a card moves, 0 for none
   */
  show(frame, scene, { viewer, duration }) {
    const moving = duration > 0 && !still.matches && !document.hidden;
    const before = moving ? this.places() : new Map();
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    this.used.clear();
    const count = this.seats.length;
    scene.seats.forEach((seat, at) => this.drawSeat(seat, at, (at - (viewer ?? 0) + count) % count, scene));
    this.drawCentre(scene);
    this.drawTotals(scene);
    this.text(".step-title", this.title(frame));
    this.why(frame);
    for (const id of this.cards.keys()) if (!this.used.has(id)) this.cards.delete(id);
    if (moving) this.move(before, duration);
    if (focused !== document.activeElement && this.table.contains(focused)) {
      focused.focus({ preventScroll: true });
    }
  }

  /** Shows the time that is left for the moves. @param {number|null} ms  null: there is no clock */
  clock(ms) {
    this.stopClock();
    const place = part(this.table, ".clock");
    place.hidden = ms === null;
    if (ms === null) return;
    this.stopClock = countSeconds(ms, (left) => {
      place.textContent = left < 120 ? `${left} s left` : `${Math.ceil(left / 60)} min left`;
    });
  }

  /** @param {Seat} seat @param {number} at @param {number} place @param {Scene} scene */
  drawSeat(seat, at, place, scene) {
    const box = this.seats[at];
    box.className = `seat at-${place}${seat.won ? " won" : ""}${seat.leads ? " leads" : ""}${seat.acts ? " acts" : ""}`;
    part(box, ".points").textContent = String(seat.points);
    const change = part(box, ".change");
    change.textContent = seat.change ? `${seat.change > 0 ? "+" : "−"}${Math.abs(seat.change)}` : "";
    const count = seat.hand.length;
    part(box, ".count").textContent = `${count} card${count === 1 ? "" : "s"}`;
    // A player sees the backs of other hands, and below them the ranks that they know.
    const isOther = this.own !== null && at !== this.own && !scene.over;
    if (this.own !== null) this.drawKnown(part(box, ".known"), isOther ? seat.hand : []);
    const held = isOther ? seat.hand.map((card) => ({ ...card, rank: null })) : seat.hand;
    const hand = part(box, ".hand");
    hand.classList.toggle("hidden", held.length > 0 && held.every((card) => card.rank === null));
    const tag = at === this.own ? "button" : "span";
    arrange(hand, pile(held.map((card) => this.card(card, [
      ...(seat.fresh.includes(card.id) ? ["fresh"] : []),
      ...(seat.scored.includes(card.rank) ? ["scored"] : []),
    ], tag))));
    arrange(part(box, ".plays"), pile(seat.plays.map((card) =>
      this.card(card, scene.cancelled.includes(card.rank) ? ["cancelled"] : []))));
    const order = part(box, ".order");
    order.replaceChildren();
    if (seat.order) order.append(element("span", "unseen", "Number "), String(seat.order));
    arrange(part(box, ".won-days"), seat.days.map((day) => this.day(day)));
    const faults = seat.faults.map((kind) => `${kind}: the referee played for it`);
    const does = [seat.passed ? (seat.forced ? "cannot play" : "passes") : "", seat.leads ? "leads" : "", seat.note];
    // The panel of a player names who thinks, and the frame of the plate shows it.
    if (seat.acts && this.own === null) does.push("thinking");
    const line = part(box, ".does");
    line.replaceChildren(does.filter(Boolean).join(", "));
    if (faults.length) line.append(" ", element("span", "fault", faults.join(" ")));
  }

  /** Lists the known ranks of a hand, each once with its number. @param {HTMLElement} list @param {Card[]} hand */
  drawKnown(list, hand) {
    /** @type {Map<Rank, number>} */
    const counts = new Map();
    for (const { rank } of hand) if (rank !== null) counts.set(rank, (counts.get(rank) ?? 0) + 1);
    list.replaceChildren(...[...counts].map(([rank, count]) => {
      const item = element("li", `tc r${rank}`, String(rank));
      if (count > 1) item.append(element("small", "", `×${count}`));
      return item;
    }));
  }

  /** @param {Scene} scene */
  drawCentre(scene) {
    const pot = part(this.felt, ".pot");
    pot.hidden = !scene.pot.length;
    const stake = `Pot: ${scene.stake}\u00a0point${scene.stake === 1 ? "" : "s"}`;
    part(pot, ".stake").textContent = pot.hidden ? "" : stake;
    arrange(part(pot, ".days"), scene.pot.map((day) => this.day(day)));
    part(this.felt, ".low").textContent = scene.lead ? rule(scene.lead) : "";
    const pool = this.felt.querySelector(".pool");
    if (!pool) return;
    const left = this.parts - scene.awarded;
    pool.toggleAttribute("hidden", !left || scene.over);
    part(pool, "b").textContent = `Pool: ${left} gift${left === 1 ? "" : "s"}`;
    part(pool, ".worth").hidden = scene.lead !== null;
  }

  /** Shows the totals at the end. @param {Scene} scene */
  drawTotals({ over, seats }) {
    const list = part(this.felt, ".totals");
    list.hidden = !over;
    if (over) import("./totals.js").then(({ fill }) => fill(list, seats, this.names));
  }

  /**
   * Shows the reasons; at the end, who wins; with the deal, the goal of the game.
   * @param {Frame} frame
   */
  why({ kind, lines, ply, gifts }) {
    const line = part(this.table, ".why");
    const { goal, small } = this.table.dataset;
    const shown = small !== undefined && gifts ? lines.slice(0, -gifts) : lines;
    if (goal && kind === "deal" && !ply) {
      this.text(".why", goal);
      return;
    }
    this.text(".why", kind === "end" ? lines[0].replace(/; .*/, ".") : shown.join(" "));
    if (small !== undefined) line.title = lines.join("\n");
    line.scrollTo(0, 0);
    line.parentElement?.scrollTo(0, 0);
  }

  /** @param {string} selector @param {string} text */
  text(selector, text) {
    const found = this.table.querySelector(selector);
    if (found && found.textContent !== text) found.textContent = text;
  }

  /** Returns the list item of a card. @param {string} id */
  slot(id) {
    const item = this.cards.get(id) ?? element("li", "slot");
    this.used.add(id);
    this.cards.set(id, item);
    return item;
  }

  /** @param {Card} card @param {string[]} marks */
  card(card, marks, tag = "span") {
    const item = this.slot(card.id);
    if (item.children[0]?.localName !== tag) {
      const made = element(tag, "");
      if (tag === "button") made.setAttribute("type", tag);
      item.replaceChildren(made);
    }
    const face = item.children[0];
    const rank = card.rank === null ? "back" : `r${card.rank}`;
    face.className = ["tc", rank, ...marks].join(" ");
    if (tag === "button") face.setAttribute("data-rank", String(card.rank));
    const text = String(card.rank ?? "");
    const said = marks.map((mark) => SAID[mark]);
    face.textContent = text;
    if (card.rank === 0) face.append(element("span", "unseen", ", Claus"));
    if (said.length && text) face.append(element("span", "unseen", said.join("")));
    return item;
  }

  /** @param {number} day */
  day(day) {
    const item = this.slot(`day${day}`);
    if (!item.firstChild) item.append(element("span", "tc day", String(day)));
    return item;
  }

  /** Returns where the cards lie on the felt. */
  places() {
    const felt = this.felt.getBoundingClientRect();
    /** @type {Map<string, Place>} */
    const places = new Map();
    for (const [id, item] of this.cards) {
      const { left, top, width } = item.children[0].getBoundingClientRect();
      if (width) places.set(id, { left: left - felt.left, top: top - felt.top, width });
    }
    return places;
  }

  /** Returns the plate of a seat that plays a card, as its place. @param {HTMLElement} item @returns {Place|null} */
  source(item) {
    const plate = item.parentElement?.matches(".plays") && item.closest(".seat")?.querySelector(".plate");
    if (!plate) return null;
    const { left, top } = plate.getBoundingClientRect();
    const felt = this.felt.getBoundingClientRect();
    return { left: left - felt.left, top: top - felt.top, width: 0 };
  }

  /**
   * Moves each card from its old place. A new one comes from the middle of the felt, or from the
   * plate of its seat if the hand is not drawn.
   * @param {Map<string, Place>} before @param {number} duration
   */
  move(before, duration) {
    const middle = { left: this.felt.offsetWidth / 2, top: this.felt.offsetHeight / 2, width: 0 };
    const moves = [];
    for (const [id, to] of this.places()) {
      const item = this.slot(id);
      const from = before.get(id) || (before.size ? this.source(item) ?? middle : null);
      if (!from) continue;
      const [x, y] = [from.left - to.left, from.top - to.top];
      if (Math.abs(x) + Math.abs(y) < 2) continue;
      const scale = from.width ? from.width / to.width : 0.6;
      const opacity = before.has(id) ? 1 : 0;
      moves.push(() => item.animate([
        { transform: `translate(${x}px, ${y}px) scale(${scale})`, opacity, zIndex: 5, transformOrigin: "0 0" },
        { transform: "none", opacity: 1, zIndex: 5, transformOrigin: "0 0" },
      ], { duration, easing: "cubic-bezier(.2,.7,.2,1)" }));
    }
    for (const move of moves) move();
  }
}

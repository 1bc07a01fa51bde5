// What a screen reader reads when a table changes: one short text of whole sentences.

import { nameOf } from "./scene.js";

/** Characters that several sentences may have together; one sentence may have more. */
const ROOM = 200;

/** Writes what changed for screen readers. @param {Frame} frame @param {{table: HTMLElement, names: string[]}} view */
export function announce(frame, { table, names }) {
  const status = table.querySelector("[role=status]");
  if (status) status.textContent = spoken(frame, names);
}

/**
 * Returns what happened in a frame, with the cards.
 * @param {Frame} frame
 * @param {string[]} names  of the seats
 * @returns {string}
 */
export function spoken({ kind, scene, lines, part }, names) {
  const shown = ["give", "play", "result"].includes(kind);
  const cards = scene.day && shown ? cardsOf(kind, scene, names) : "";
  if (kind === "result") {
    const why = fitting(lines, ROOM - cards.length);
    return cards ? `${part}: ${cards}. ${why}` : why;
  }
  if (cards) return `${part}: ${cards}.`;
  return lines.at(kind === "end" ? 0 : -1) ?? "";
}

/** @param {string} kind @param {Scene} scene @param {string[]} names */
function cardsOf(kind, scene, names) {
  const gave = kind === "give" ? /^gave (.*)$/ : null;
  /** @type {string[]} */
  const parts = [];
  scene.seats.forEach((seat, at) => {
    const card = gave ? gave.exec(seat.note)?.[1] : words(seat.plays);
    const verb = parts.length ? "" : `${gave ? "gives" : "plays"} `; // it stands once
    if (card) parts.push(`${names[at]} ${verb}${card}`);
  });
  return parts.join(", ");
}

/** @param {Card[]} cards */
function words(cards) {
  return cards.map(({ rank }) => nameOf(rank)).join(" ");
}

/** Returns as many whole sentences from the first one as have room. @param {string[]} lines @param {number} room */
function fitting(lines, room) {
  let text = lines[0] ?? "";
  for (const line of lines.slice(1)) {
    if (text.length + line.length >= room) break;
    text += ` ${line}`;
  }
  return text;
}

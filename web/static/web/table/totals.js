// Writes on the felt, at the end of a match, what each seat has and how it adds up, by place; and
// in the sentence, who wins and by how much.

import { element, part } from "./view.js";

/** @param {string[]} names  two or more */
export function listed(names) {
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** @param {HTMLElement} list @param {Seat[]} seats @param {string[]} names */
export function fill(list, seats, names) {
  if (list.hidden) return; // the reader has gone on
  const table = /** @type {HTMLElement} */ (list.closest(".table"));
  if (table.dataset.table !== "play") part(table, ".why").textContent = ending(seats, names);
  const order = seats.map((_, at) => at).sort((a, b) => seats[a].place - seats[b].place);
  list.replaceChildren(...order.map((at) => {
    const { place, points, counted } = seats[at];
    const row = element("li", place === 1 ? "first" : "");
    const how = counted ? sum(points, counted) : sumOfGifts(seats[at]);
    row.append(element("span", "of", `${place}`), " ", element("b", "whose", names[at]), " ",
      element("b", "sum", `${points}`), " ", element("span", "parts", how));
    return row;
  }));
}

/** Returns who wins, by how much and with what, as a sentence. @param {Seat[]} seats @param {string[]} names */
function ending(seats, names) {
  const order = seats.map((_, at) => at).sort((a, b) => seats[a].place - seats[b].place);
  const [first, second] = order.map((at) => seats[at]);
  const best = order.filter((at) => seats[at].place === 1).map((at) => names[at]);
  if (best[1] && second.points !== first.points) return `${listed(best)} forfeit: a tie.`;
  if (best[1]) return `${listed(best)} share first place with ${first.points} each.`;
  if (second.points > first.points) return `${best[0]} wins by forfeit.`;
  const { counted, points } = first;
  const how = counted ? `${points - counted.points} from days, ${counted.points} from its hand`
    : gifts(first);
  return `${best[0]} wins ${points}-${second.points}: ${how}.`;
}

/** Returns how points add up, as the server does. @param {number} points @param {Counted} hand */
function sum(points, { most, tied, points: ofHand }) {
  const ranks = [
    ...most.map((rank) => `most ${rank}s:\u00a0${rank}`),
    ...tied.map((rank) => `tied ${rank}s:\u00a0${rank}`),
  ];
  return `${[`days ${points - ofHand}`, ...(ranks.length ? ranks : ["hand 0"])].join(" · ")} = ${points}`;
}

/** Returns what the gifts of the winner came from, as a sentence. @param {Seat} seat */
function gifts({ points, rounds, got, gave }) {
  const start = points - got + gave;
  const won = rounds.length ? `won ${got} in ${named(rounds)}` : "won no round";
  const lost = `gave ${gave || "none"} away`;
  return start ? `it began with ${start} gift${start === 1 ? "" : "s"}, ${won} and ${lost}` : `it ${won} and ${lost}`;
}

/** Returns how gifts add up, as the server does. @param {Seat} seat */
function sumOfGifts({ points, rounds, got, gave }) {
  const start = points - got + gave;
  const parts = [
    ...(start ? [`start ${start}`] : []),
    rounds.length ? `${named(rounds)}: +${got}` : "won no round",
    ...(gave ? [`given: −${gave}`] : []),
  ];
  return `${parts.join(" · ")} = ${points}`;
}

/** @param {number[]} rounds  one or more */
function named(rounds) {
  return rounds[1] ? `rounds ${listed(rounds.map(String))}` : `round ${rounds[0]}`;
}

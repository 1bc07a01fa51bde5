// The headline beside a table: who leads a match in play, who won it. It has the words of
// `league/play/headlines.py`, and the server writes the first one.

/** Characters of a word with a hyphen that stays on one line, as `web/tags.py` has it. */
const LONGEST_WHOLE = 32;

/** Shows a headline beside a table; an empty one changes nothing. @param {HTMLElement} table @param {string} text */
export function entitle(table, text) {
  const place = document.querySelector(`[data-headline="${table.id}"]`);
  if (!place || !text || place.textContent === text) return;
  place.replaceChildren();
  text.split(" ").forEach((word, at) => {
    if (at) place.append(" ");
    if (!/[-−]/.test(word) || word.replace(/[,:]+$/, "").length > LONGEST_WHOLE) return place.append(word);
    const whole = document.createElement("span");
    whole.className = "whole";
    whole.textContent = word;
    return place.append(whole);
  });
}

/**
 * Returns who leads, and the points of the best two seats; "" before a seat has scored.
 * @param {string[]} names  by seat
 * @param {number[]} points
 * @param {number[]} begun  points of each seat at the start
 */
export function leading(names, points, begun) {
  if (points.every((each, seat) => each === begun[seat])) return "";
  const [best, next] = [...points].sort((a, b) => b - a);
  const first = names.filter((_, seat) => points[seat] === best);
  if (first[1]) return capital(`${some(first, 1)} are level at ${score(best)}-${score(best)}`);
  return capital(`${first[0]} leads ${score(best)}-${score(next)}`);
}

/**
 * Returns the result of a match.
 * @param {string[]} names  by seat @param {{scores: number[], places: number[]}} end
 */
export function result(names, { scores, places }) {
  const order = names.map((_, seat) => seat)
    .sort((a, b) => places[a] - places[b] || scores[b] - scores[a] || a - b);
  const first = order.filter((seat) => places[seat] === 1);
  const called = (/** @type {number[]} */ seats) => seats.map((seat) => names[seat]);
  const others = called(order.slice(first.length));
  const [best, next] = order.map((seat) => scores[seat]);
  if (first[1] && best !== next) return capital(`${some(called(first), 3)} forfeit: a tie`);
  if (first[1]) {
    const behind = others.length ? `, ahead of ${some(others, 1)}` : "";
    return capital(`${some(called(first), 3)} tie ${score(best)}-${score(next)}${behind}`);
  }
  const how = next > best ? "wins by forfeit" : `wins ${score(best)}-${score(next)}`;
  return capital(`${names[order[0]]} ${how} against ${some(others, 1)}`);
}

/** Returns the headline of a void match. @param {string[]} names  by seat */
export function ofVoid(names) {
  return capital(`${some(names, 2)}: void`);
}

/** Returns names as words: at most `shown` + 1, else the first `shown` and the number of others.
 * @param {string[]} names @param {number} shown */
function some(names, shown) {
  const left = names.length - shown;
  if (left > 1) return `${names.slice(0, shown).join(", ")} and ${left} others`;
  return names[1] ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
}

const score = (/** @type {number} */ points) => String(points).replace("-", "−");
const capital = (/** @type {string} */ text) => (text.startsWith("a guest ") ? `A${text.slice(1)}` : text);

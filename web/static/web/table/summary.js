// Writes what happened in a beat: few sentences for many events.

/** @type {Record<string, string>} */
const SUMMARY = {
  hand_dealt: "Every seat receives its cards.",
  card_given: "Every seat gives one card to its left neighbour.",
  card_played: "All seats turn over the cards that they play.",
  card_drawn: "Every seat draws a card.",
  rank_scored: "The seats that hold the most cards of a rank score that rank.",
};

/**
 * Returns the sentences on a beat; one sentence for events of one kind.
 * @param {Kind[]} kinds @param {string[]} lines  of its events
 */
export function summarised(kinds, lines) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const kind of kinds) counts[kind] = (counts[kind] || 0) + 1;
  if (kinds.includes("match_over")) {
    const counts = lines.filter((_, at) => kinds[at] === "hand_counted");
    return [...lines.slice(-1), ...(counts.length ? [SUMMARY.rank_scored] : []), ...counts];
  }
  if (kinds.includes("match_started")) return [lines[0]];
  const shown = new Set();
  /** @type {string[]} */
  const result = [];
  kinds.forEach((kind, at) => {
    if (kind === "hand_dealt" && counts.round_dealt) return;
    if (counts[kind] > 1 && SUMMARY[kind]) {
      if (!shown.has(kind)) result.push(SUMMARY[kind]);
      shown.add(kind);
    } else result.push(lines[at]);
  });
  return result;
}

// Finds the frames of a replay, and shows a scene as one seat saw it. A match in play needs neither.

/** @param {Frame} frame  @returns {boolean} whether it shows moves, not new cards */
export const showsMoves = (frame) => ["give", "play", "result"].includes(frame.kind);

/**
 * Returns the frame that a link to a phase shows: its moves, or the new cards after them. Without
 * such a frame it returns -1.
 * @param {Frame[]} frames
 * @param {number} ply  of the end of the phase
 * @param {boolean} [ofCards]
 */
export function frameOfPly(frames, ply, ofCards = false) {
  const found = frames.findLastIndex((frame) => frame.ply === ply && showsMoves(frame) !== ofCards);
  return found < 0 ? frames.findIndex((frame) => frame.ply === ply) : found;
}

/** Returns the frame that shows the last result of a step. @param {Frame[]} frames @param {number} step */
export function frameOf(frames, step) {
  const of = frames.flatMap((frame, at) => (frame.step === step ? [at] : []));
  const results = of.filter((at) => ["result", "end"].includes(frames[at].kind));
  return results.at(-1) ?? of.at(-1) ?? 0;
}

/**
 * Returns the scene as one seat saw it: other ranks are null.
 * @param {Scene} scene @param {number|null} viewer
 */
export function seenBy(scene, viewer) {
  if (viewer === null || scene.over) return scene;
  const seats = scene.seats.map((seat, at) => ({
    ...seat,
    forced: at === viewer && seat.forced, // only the seat itself sees that it cannot play
    note: at === viewer || !/^(gave|drew)/.test(seat.note) ? seat.note : "",
    hand: seat.hand.map((card) =>
      at === viewer || (card.by || []).includes(viewer) ? card : { ...card, rank: null }),
  }));
  return { ...scene, seats };
}

// Failed calls of a page that stays open: which of them pass, and how long to wait. What a reader
// sees of them is in `notices.js`.

export const LONGEST_PAUSE = 60; // seconds

/** An answer that is no success. */
export class StatusError extends Error {
  /** @param {Response} answer */
  constructor(answer) {
    super(`${answer.status} ${answer.statusText}`);
    this.answer = answer;
  }
}

/** Whether the same call may work later. @param {Response} answer */
export const passes = (answer) => answer.status === 429 || answer.status >= 500;

/** Whether a call fails again if it is repeated. @param {unknown} failure */
export const isFinal = (failure) => failure instanceof StatusError && !passes(failure.answer);

/** A factor at random, so that not all pages call in one moment. */
export const jitter = () => 0.8 + 0.4 * Math.random();

/**
 * Returns the milliseconds before the next try; they grow with each failure in a row.
 * @param {number} failures  before the last one
 * @param {number} [least]  seconds
 */
export const growingPause = (failures, least = 2) =>
  1000 * Math.min(LONGEST_PAUSE, least * 2 ** failures) * jitter();

// Failed calls of a page that stays open: which of them pass, and after how long to try again.

const USUAL_PAUSE = 3; // seconds
const LONGEST_PAUSE = 60;

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

/** Returns the seconds to wait before the next try. @param {Response} answer */
export function pauseAfter(answer) {
  const seconds = Number(answer.headers.get("Retry-After") ?? USUAL_PAUSE);
  return Math.min(LONGEST_PAUSE, Math.max(1, Number.isFinite(seconds) ? seconds : USUAL_PAUSE));
}

/** A factor at random, so that not all pages call in one moment. */
export const jitter = () => 0.8 + 0.4 * Math.random();

/**
 * Returns the milliseconds before the next try; they grow with each failure in a row.
 * @param {number} failures  before the last one
 * @param {number} [least]  seconds
 */
export const growingPause = (failures, least = 2) =>
  1000 * Math.min(LONGEST_PAUSE, least * 2 ** failures) * jitter();

/** Returns the sentence of a problem, for a reader. @param {Response} answer */
export async function wordsOf(answer) {
  const problem = await answer.json().catch(() => ({}));
  return (
    problem.detail ?? problem.title ??
    `The league refused the request (status ${answer.status}). Reload the page and try again.`
  );
}

/** A line of the page that shows why a call failed; empty, it is hidden. */
export class Notice {
  /** @param {HTMLElement} line */
  constructor(line) {
    this.line = line;
    this.passes = false; // the line is over once a call works
  }

  /** @param {string} text */
  show(text) {
    this.passes = false;
    if (this.line.textContent !== text) this.line.textContent = text;
  }

  /** Waits after a failure that may pass, and shows why. Throws any other failure.
   * @param {unknown} failure  what `fetch` threw, or a `StatusError`
   */
  async rest(failure) {
    let seconds = USUAL_PAUSE;
    if (isFinal(failure)) throw failure;
    if (failure instanceof StatusError) {
      seconds = pauseAfter(failure.answer);
      this.show(`The league is busy. Trying again in ${seconds} s.`);
    } else this.show("Connection lost, trying again.");
    this.passes = true;
    await new Promise((done) => setTimeout(done, 1000 * seconds));
  }

  /** Calls; returns whether that worked. After a failure that may pass, waits; after another, loads
   * the page. @param {() => Promise<void>} call */
  async settles(call) {
    try {
      await call();
      if (this.passes) this.show("");
      return true;
    } catch (failure) {
      await this.rest(failure).catch(() => {
        location.reload();
        return new Promise(() => {}); // nothing more happens on this page
      });
      return false;
    }
  }
}

// Shows a reader why a call failed, and waits before the next try.

import { isFinal, LONGEST_PAUSE, StatusError } from "./failures.js";

const USUAL_PAUSE = 3; // seconds

/** Returns the seconds to wait before the next try. @param {Response} answer */
function pauseAfter(answer) {
  const seconds = Number(answer.headers.get("Retry-After") ?? USUAL_PAUSE);
  return Math.min(LONGEST_PAUSE, Math.max(1, Number.isFinite(seconds) ? seconds : USUAL_PAUSE));
}

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

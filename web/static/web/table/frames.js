// Shows frames one after the other as the phases of a match come in.

import { Fold } from "./scene.js";
import { MOVE } from "./view.js";

const MOST_BEHIND = 12;
export class Frames {
  /**
   * @param {number} seats
   * @param {{show: (frame: Frame, duration: number) => void,
   *   wait: () => number, idle?: () => void}} how  `wait`: milliseconds between two frames;
   *   `idle`: called when the last frame is shown
   */
  constructor(seats, how) {
    this.fold = new Fold(seats);
    this.how = how;
    this.shown = -1;
    this.timer = 0;
  }

  get isIdle() {
    return !this.timer && this.shown === this.fold.frames.length - 1;
  }

  /** @param {Phase} phase */
  add(phase) {
    this.fold.add(phase);
    // The first phases come at once; draw when the last of them is there.
    if (!this.timer) this.timer = setTimeout(() => this.next(), this.shown < 0 ? 50 : 0);
  }

  next() {
    this.timer = 0;
    const behind = this.fold.frames.length - 1 - this.shown;
    if (!behind) {
      this.how.idle?.();
      return;
    }
    // After a gap, only the last frame is shown.
    const jumps = this.shown < 0 || behind > MOST_BEHIND || !this.how.wait();
    this.shown = jumps ? this.fold.frames.length - 1 : this.shown + 1;
    this.how.show(this.fold.frames[this.shown], jumps ? 0 : MOVE);
    this.timer = setTimeout(() => this.next(), jumps ? 0 : this.how.wait());
  }

  /** Shows the last frame at once. */
  finish() {
    if (this.isIdle || !this.fold.frames.length) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.shown = this.fold.frames.length - 1;
    this.how.show(this.fold.frames[this.shown], 0);
    this.how.idle?.();
  }
}

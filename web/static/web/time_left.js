// The time that is left for a move.

/**
 * Calls `show` each second until the time is over; returns a function that stops it earlier.
 * @param {number} ms @param {(seconds: number) => void} show  gets the whole seconds that are left
 */
export function countSeconds(ms, show) {
  const ends = performance.now() + ms;
  let shown = -1;
  const stop = () => clearInterval(ticking);
  const tick = () => {
    const left = Math.max(0, Math.ceil((ends - performance.now()) / 1000));
    if (!left) stop();
    if (left !== shown) show(left);
    shown = left;
  };
  const ticking = setInterval(tick, 250);
  tick();
  return stop;
}

// The time that is left for a move.

/**
 * Shows the time that is left, each second anew; returns a function that ends that.
 * @param {number} ms @param {(seconds: number) => void} show  gets whole seconds, at the end 0
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

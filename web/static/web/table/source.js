// Where the phases of a match come from: one answer with all of them, or the event stream.

/** Fetches a finished match. @param {string} address */
export async function fetchAll(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer.json();
}

/**
 * Follows a match in play. The browser connects again by itself and names the last event, so no
 * phase comes twice; after an answer that ends that, this connects again with longer and longer
 * waits.
 * @param {string} address
 * @param {{phase: (phase: any) => void, end: (end: any) => void, state: (on: boolean) => void}} to
 * @returns {() => void} stops it
 */
export function follow(address, to) {
  /** @type {EventSource|null} */
  let stream = null;
  let failures = 0;
  let last = -1;
  let timer = 0;
  const connect = () => {
    stream = new EventSource(address);
    stream.addEventListener("open", () => {
      failures = 0;
      to.state(true);
    });
    stream.addEventListener("phase", (event) => {
      if (Number(event.lastEventId) <= last) return;
      last = Number(event.lastEventId);
      to.phase({ ...JSON.parse(event.data), ply: last });
    });
    stream.addEventListener("end", (event) => {
      stream.close();
      to.end(JSON.parse(event.data));
    });
    stream.addEventListener("error", () => {
      to.state(false);
      if (stream.readyState !== EventSource.CLOSED) return;
      failures += 1;
      timer = setTimeout(connect, 1000 * Math.min(60, 2 ** failures) * (0.8 + 0.4 * Math.random()));
    });
  };
  connect();
  return () => {
    clearTimeout(timer);
    stream.close();
  };
}

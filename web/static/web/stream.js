// A stream of events that opens again after a failure, with growing pauses.

import { growingPause } from "./failures.js";

export class Stream {
  /** @param {StreamEvents} events @param {StreamUse} use */
  constructor(events, use) {
    this.events = events;
    this.use = use;
    this.failures = 0; // in a row; the user of the stream sets it to 0
    this.timer = 0;
    /** @type {EventSource|null} */
    this.source = null;
  }

  /** Whether the stream is open or opens again after a pause. */
  get isWanted() {
    return this.source !== null || this.timer > 0;
  }

  /** Opens the stream, in place of the one that is open. @param {string} address */
  open(address) {
    this.close();
    const source = new EventSource(address);
    this.source = source;
    source.addEventListener("open", () => this.use.opened?.());
    for (const [name, act] of Object.entries(this.events)) {
      source.addEventListener(name, (event) => act(JSON.parse(event.data)));
    }
    source.addEventListener("error", () => {
      source.close(); // the browser itself would try again every few seconds for ever
      if (this.source === source) this.pause();
    });
  }

  pause() {
    this.source = null;
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.use.again();
    }, growingPause(this.failures, this.use.least));
    this.failures += 1;
    this.use.failed?.();
  }

  close() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.source?.close();
    this.source = null;
  }
}

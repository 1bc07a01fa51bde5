// How a script uses a stream of events (`stream.js`).

/** What to do with the data of each kind of event, by its name. */
type StreamEvents = Record<string, (data: any) => void>;

interface StreamUse {
  /** Opens the stream if the page still needs it; called after the pause that follows a failure. */
  again(): void;
  opened?(): void;
  failed?(): void;
  /** The seconds of the first pause, 2 without it. */
  least?: number;
}

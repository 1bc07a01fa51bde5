// The page of a player: its elements with an id that `play.js` and `panel.js` use.

interface PlayParts {
  /** The form that sends a move without JavaScript. */
  moves: HTMLFormElement;
  question: HTMLElement;
  notice: HTMLElement;
  advice: HTMLElement;
  /** Whether a move needs a second click. */
  confirm: HTMLInputElement;
  selection: HTMLElement;
  /** null in a game in which cards are played alone. */
  "play-chosen": HTMLButtonElement | null;
  "clear-chosen": HTMLButtonElement;
}

type FindPlayPart = <K extends keyof PlayParts>(id: K) => PlayParts[K];

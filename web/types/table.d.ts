// What the scripts of a table hand to each other.

/** A rank; null while it is hidden. */
type Rank = number | null;

/** A card keeps its id while it moves. */
interface Card {
  id: string;
  rank: Rank;
  /** The seats that see its rank while it is in a hand. */
  by?: number[];
}

interface Seat {
  hand: Card[];
  plays: Card[];
  passed: boolean;
  /** It passed because it could not play. */
  forced: boolean;
  leads: boolean;
  won: boolean;
  /** Its number in the order of a trick; 0 before it acts. */
  order: number;
  points: number;
  change: number;
  /** The day cards that it received. */
  days: number[];
  note: string;
  /** The ids of its new cards. */
  fresh: string[];
  /** The ranks that it scores at the end. */
  scored: Rank[];
  faults: string[];
  acts: boolean;
  /** Its place, at the end. */
  place: number;
  /** What its hand counts, at the end of 12 Days. */
  counted: Counted | null;
  /** The rounds that it has won. */
  rounds: number[];
  /** The gifts that rounds brought it, and those that it gave away. */
  got: number;
  gave: number;
}

interface Counted {
  most: number[];
  tied: number[];
  points: number;
}

interface Lead {
  kind: string;
  low: number;
}

interface Scene {
  game: string;
  rules: string;
  seats: Seat[];
  pot: number[];
  stake: number;
  /** The gifts that seats won from the pool. */
  awarded: number;
  cancelled: Rank[];
  discards: number;
  day: number;
  round: number;
  trick: number;
  lead: Lead | null;
  over: boolean;
}

/** What cards do that move together. */
type Beat = "deal" | "give" | "play" | "result" | "end";

interface Frame {
  scene: Scene;
  kind: Beat;
  lines: string[];
  step: number;
  ply: number;
  /** The seats that chose a move. */
  movers: number[];
  /** So many of the last lines are about gifts that a round moved. */
  gifts: number;
  /** The day or the trick, in words. */
  part: string;
  /** The felt shows the last day or trick, and the question is about the next one. */
  after?: boolean;
}

/** Where a card lies on the felt, in pixels. */
interface Place {
  left: number;
  top: number;
  width: number;
}

/** A replay at one of its frames. */
interface Player {
  frames: Frame[];
  at: number;
  /** Shows a frame: after a press of the reader, in the course of play, at the start, or for another viewer. */
  show(at: number, how: { by: "hand" | "play" | "start" | "view" }): void;
  /** Returns the frame of a step. */
  jump(step: number): number;
}

/** What a table does with the events of its match. */
interface Follower {
  phase(phase: StreamPhase): void;
  end(end: StreamEnd): void;
  clock(clock: StreamClock): void;
  /** Shows whether the stream is open. */
  state(on: boolean): void;
}

/** Makes a card with its own id. */
type Make = (rank: Rank, by?: number[]) => Card;

/** Returns an element that the page has. */
type Find = <E extends HTMLElement = HTMLElement>(root: ParentNode, selector: string) => E;

type Elements = NodeListOf<HTMLElement>;
type FindAll = (root: ParentNode, selector: string) => Elements;

// The classes that one script gets from another.
type Beside = import("../static/web/table/beside.js").Beside;
type Frames = import("../static/web/table/frames.js").Frames;
type Past = import("../static/web/table/past.js").Past;
type Transport = import("../static/web/table/transport.js").Transport;

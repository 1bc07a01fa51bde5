// What the server sends to scripts as JSON, except the events of a match.

/** The deal or one phase of a match, with a sentence for each event. */
interface Phase {
  events: GameEvent[];
  sentences: string[];
  ply?: number;
  /** Seat and kind of each fault; only a replay has them. */
  faults?: [number, string][];
  /** The seats that decide next; a replay has none. */
  to_act?: number[];
}

/** A finished match, as `web.table.tables.phases_of` returns it. */
interface Replay {
  game: string;
  rules: string;
  names: string[];
  /** The SHA-256 of the deal seed, in hexadecimal digits as the seed itself. */
  commitment: string;
  deal_seed: string;
  /** The deck in ascending order. */
  cards: number[];
  phases: Phase[];
}

// -- The stream of matches in play: `api/play/match_events.py` describes it ---------------------

interface StreamPhase extends Phase {
  match: number;
  ply: number;
}

type StreamEnd =
  | { match: number; status: "finished"; scores: number[]; places: number[] }
  | { match: number; status: "void" };

interface StreamClock {
  match: number;
  /** null if no seat has a clock. */
  remaining_ms: number | null;
}

// -- The page of a player -----------------------------------------------------------------------

/** A legal move. */
interface Choice {
  text: string;
  words: string;
  kind: string;
  cards: number[];
}

interface SeatPhase extends Phase {
  ply: number;
  news: string[];
}

/** What is new for a player, as `web.player_page.as_json` returns it, with the panel of moves. */
interface Answer {
  state: "playing";
  phases: SeatPhase[];
  /** The seats that decide now. */
  acts: number[];
  /** Notes on seats, by the number of the seat. */
  notes: Record<string, string>;
  thinking: string;
  turn: number | null;
  remaining_ms: number | null;
  choices: Choice[];
  hint: string | null;
  has_left: boolean;
  panel: string;
}

/** The match is over, or the table is closed: the page loads again. */
interface NoAnswer {
  state: "over";
}

// -- The analysis of a match: `web.table.verdicts.for_browser` ----------------------------------

/** The moves of one phase: a better move is a seat with its cards; `moved` are the exact chances. */
type Judged = [
  ply: number,
  chances: number[],
  mark: string,
  text: number,
  better: [number, number[]][],
  moved: number[] | null,
];

interface AnalysisData {
  texts: string[];
  /** The chances after the deal. */
  first: number[];
  phases: Judged[];
}

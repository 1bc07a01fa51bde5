// The events of a match as JSON, as in `engine/games/events.py`; a test compares both.

type GameEvent =
  | { kind: "match_started"; game: string; rules: string; seats: number }
  | { kind: "hand_dealt"; seat: number; hand_size: number; cards: number[] | null }
  | { kind: "hand_shown"; seat: number; cards: number[] }
  | { kind: "match_over"; scores: number[]; places: number[] }
  | { kind: "day_started"; day: number; pot: number[]; points: number }
  | { kind: "card_given"; seat: number; to: number; rank: number | null }
  | { kind: "card_played"; seat: number; rank: number }
  | { kind: "day_won"; day: number; seat: number; rank: number; cancelled: number[]; pot: number[]; points: number; to: number | null }
  | { kind: "pot_awarded"; day: number; seat: number; to: number; pot: number[]; points: number }
  | { kind: "day_carried"; day: number; cancelled: number[]; pot: number[]; points: number }
  | { kind: "pot_lost"; day: number; cancelled: number[]; pot: number[]; points: number }
  | { kind: "card_drawn"; seat: number; rank: number | null }
  | { kind: "discards_reshuffled"; cards: number }
  | { kind: "rank_scored"; rank: number; seats: number[]; count: number; points: number }
  | { kind: "hand_counted"; seat: number; most: number[]; tied: number[]; points: number }
  | { kind: "round_dealt"; round: number; leader: number }
  | { kind: "cards_led"; seat: number; cards: number[]; combination: string; low: number }
  | { kind: "cards_followed"; seat: number; cards: number[]; low: number }
  | { kind: "seat_passed"; seat: number; forced: boolean | null }
  | { kind: "trick_won"; seat: number; low: number; tied: number[] }
  | { kind: "cards_returned"; seat: number; cards: number[] }
  | { kind: "round_won"; round: number; seat: number }
  | { kind: "gift_moved"; giver: number | null; to: number; hand_size: number | null }
  | { kind: "gift_missing"; seat: number; to: number; hand_size: number };

/** The name of a kind of event. */
type Kind = GameEvent["kind"];

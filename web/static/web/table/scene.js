// Folds the events of a match into scenes. Pure: no page, no network, no rules; every change comes
// from an event.

import { summarised } from "./summary.js";

/** @type {Record<Kind, Beat>} */
const BEATS = {
  match_started: "deal", round_dealt: "deal", hand_dealt: "deal", day_started: "deal",
  card_drawn: "deal", discards_reshuffled: "deal", card_given: "give", card_played: "play",
  cards_led: "play", cards_followed: "play", seat_passed: "play", day_won: "result",
  pot_awarded: "result", day_carried: "result", pot_lost: "result", trick_won: "result",
  cards_returned: "result", round_won: "result", gift_moved: "result", gift_missing: "result",
  hand_shown: "end", rank_scored: "end", hand_counted: "end", match_over: "end",
};

/** Folds phases one by one and keeps a frame for each beat: cards that move together. */
export class Fold {
  /** @param {number} seats */
  constructor(seats) {
    this.cards = 0;
    /** @type {[Card, Seat][]} Cards given in this beat: all change hands at once. */
    this.moving = [];
    this.steps = 0;
    /** @type {Frame[]} */
    this.frames = [];
    /** @type {Scene} */
    this.scene = {
      game: "", rules: "", pot: [], stake: 0, awarded: 0, cancelled: [], discards: 0, day: 0, round: 0,
      trick: 0, over: false, lead: null,
      seats: Array.from({ length: seats }, () => ({
        hand: [], plays: [], passed: false, forced: false, leads: false, won: false, order: 0,
        points: 0, change: 0, days: [], note: "", fresh: [], scored: [], faults: [], acts: false,
        place: 0, counted: null, rounds: [], got: 0, gave: 0,
      })),
    };
  }

  /** Adds the frames of one phase. @param {Phase} phase */
  add(phase) {
    const { events, sentences } = phase;
    const first = this.frames.length;
    /** @type {[Beat|"", string[], Kind[], number[]]} */
    let [beat, lines, kinds, movers] = ["", [], [], []];
    const close = (last = false) => {
      if (!beat) return;
      this.deliver();
      for (const seat of this.scene.seats) seat.acts = false;
      if (last) for (const seat of phase.to_act || []) this.scene.seats[seat].acts = true;
      const before = this.frames.at(-1);
      // A day that a Claus wins has two results: the win, then the award. The second shows both.
      const goesOn = beat === "result" && before?.kind === "result" && before.step === this.steps;
      this.frames.push({
        scene: copy(this.scene), kind: beat, step: this.steps,
        lines: [...(goesOn ? before.lines : []), ...summarised(kinds, lines)],
        ply: phase.ply ?? 0, movers, part: part(this.scene),
        gifts: beat === "result" ? kinds.filter((each) => each.startsWith("gift_")).length : 0,
      });
    };
    for (const seat of this.scene.seats) seat.faults = [];
    for (const [seat, kind] of phase.faults || []) this.scene.seats[seat].faults.push(kind);
    events.forEach((event, index) => {
      const next = this.frames.length === 0 ? "deal" : BEATS[event.kind] || beat;
      if (next !== beat) {
        close();
        [beat, lines, kinds, movers] = [next, [], [], []];
      }
      this.apply(event);
      lines.push(sentences[index] || "");
      kinds.push(event.kind);
      const isMove = ["give", "play"].includes(next) || event.kind === "pot_awarded";
      if (isMove && "seat" in event) movers.push(event.seat);
    });
    close(true);
    // A deal or a draw belongs to the day or trick that follows it.
    for (let at = this.frames.length - 1; at > 0 && at >= first; at -= 1) {
      const before = this.frames[at - 1];
      if (before.kind === "deal") before.step = this.frames[at].step;
    }
  }

  /** Makes a card with its own id. @type {Make} */
  card = (rank, by) => ({ id: `c${(this.cards += 1)}`, rank, by });

  /** @param {GameEvent} event */
  apply(event) {
    const seat = this.scene.seats["seat" in event ? event.seat : -1];
    this.applyDeal(event, seat);
    this.applyDay(event, seat);
    this.applyTrick(event, seat);
    for (const each of this.scene.seats) each.hand.sort(byRank);
  }

  /** @param {GameEvent} event @param {Seat} seat */
  applyDeal(event, seat) {
    const { scene } = this;
    switch (event.kind) {
      case "match_started":
        [scene.game, scene.rules] = [event.game, event.rules];
        break;
      case "round_dealt":
        this.clear();
        Object.assign(scene, { round: event.round, trick: 0, discards: 0 });
        for (const each of scene.seats) each.hand = [];
        break;
      case "hand_dealt":
        seat.hand = Array.from({ length: event.hand_size }, (_, at) =>
          this.card(event.cards?.[at] ?? null, [event.seat]));
        break;
      case "card_drawn": {
        this.clear();
        const drawn = this.card(event.rank, [event.seat]);
        seat.hand.push(drawn);
        seat.fresh = [drawn.id];
        seat.note = event.rank === null ? "" : `drew ${nameOf(event.rank)}`;
        break;
      }
      case "discards_reshuffled":
        this.clear();
        scene.discards = 0;
        break;
      case "hand_shown":
        this.clear();
        if (event.seat === 0) this.steps += 1;
        reveal(seat.hand, event.cards, this.card);
        Object.assign(seat, { note: "", fresh: [] });
        break;
      case "match_over":
        scene.over = true;
        scene.seats.forEach((each, at) => {
          each.change += event.scores[at] - each.points;
          each.points = event.scores[at];
          each.place = event.places[at];
          each.won = each.place === 1;
        });
        break;
    }
  }

  /** @param {GameEvent} event @param {Seat} seat */
  applyDay(event, seat) {
    const { scene } = this;
    switch (event.kind) {
      case "day_started":
        this.clear();
        this.steps += 1;
        Object.assign(scene, { day: event.day, pot: event.pot, stake: event.points });
        break;
      case "card_given": {
        this.clearChanges();
        const given = take(seat.hand, event.rank);
        const moved = { ...given, rank: event.rank ?? given.rank, by: [event.seat, event.to] };
        this.moving.push([moved, scene.seats[event.to]]);
        seat.note = event.rank === null ? "" : `gave ${nameOf(event.rank)}`;
        break;
      }
      case "card_played":
        seat.plays = [open(take(seat.hand, event.rank), event.rank)];
        Object.assign(seat, { passed: false, note: "" });
        break;
      case "day_won":
        scene.cancelled = event.cancelled;
        seat.won = true;
        if (event.to !== null) this.pay(event.to, event);
        break;
      case "pot_awarded":
        this.pay(event.to, event);
        break;
      case "day_carried":
        scene.cancelled = event.cancelled;
        break;
      case "pot_lost":
        Object.assign(scene, { cancelled: event.cancelled, pot: [], stake: 0 });
        break;
      case "rank_scored":
        for (const holder of event.seats) {
          scene.seats[holder].scored.push(event.rank);
          gain(scene.seats[holder], event.points);
        }
        break;
      case "hand_counted":
        seat.counted = event;
        break;
    }
  }

  /** @param {GameEvent} event @param {Seat} seat */
  applyTrick(event, seat) {
    const { scene } = this;
    switch (event.kind) {
      case "cards_led":
        this.clear();
        this.steps += 1;
        scene.trick += 1;
        scene.lead = { kind: event.combination, low: event.low };
        seat.leads = true;
        this.acted(seat);
        seat.plays = event.cards.map((rank) => open(take(seat.hand, rank), rank));
        break;
      case "cards_followed":
        this.acted(seat);
        seat.plays = event.cards.map((rank) => open(take(seat.hand, rank), rank));
        break;
      case "seat_passed":
        seat.passed = true;
        seat.forced = event.forced === true;
        this.acted(seat);
        break;
      case "trick_won":
        seat.won = true;
        break;
      case "cards_returned":
        seat.hand = seat.plays;
        seat.plays = [];
        seat.note = "took cards back";
        break;
      case "round_won":
        seat.rounds = [...seat.rounds, event.round];
        break;
      case "gift_moved":
        scene.seats[event.to].points += 1;
        if (!this.frames.length) break; // the gifts at the start do not come from the pool
        scene.seats[event.to].change += 1;
        scene.seats[event.to].got += 1;
        if (event.giver === null) scene.awarded += 1;
        else {
          gain(scene.seats[event.giver], -1);
          scene.seats[event.giver].gave += 1;
        }
        break;
    }
  }

  /** Numbers the seats of a trick in the order in which they act. @param {Seat} seat */
  acted(seat) {
    seat.order = 1 + Math.max(...this.scene.seats.map((each) => each.order));
  }

  /** Hands over the cards given. */
  deliver() {
    for (const [card, to] of this.moving) {
      to.hand.push(card);
      to.hand.sort(byRank);
      to.fresh = [card.id];
    }
    this.moving = [];
  }

  /** Moves the pot to a seat. @param {number} seat @param {{points: number, pot: number[]}} won */
  pay(seat, { points, pot }) {
    const to = this.scene.seats[seat];
    gain(to, points);
    to.days = [...to.days, ...pot];
    Object.assign(this.scene, { pot: [], stake: 0 });
  }

  /** Clears the felt for the next day or trick. */
  clear() {
    const scene = this.scene;
    if (!scene.seats.some((seat) => seat.plays.length || seat.order)) return;
    Object.assign(scene, { cancelled: [], lead: null });
    for (const seat of scene.seats) {
      scene.discards += seat.plays.length;
      Object.assign(seat, { plays: [], passed: false, forced: false, leads: false, won: false });
      Object.assign(seat, { note: "", order: 0, fresh: [] });
    }
    this.clearChanges();
  }

  clearChanges() {
    for (const seat of this.scene.seats) seat.change = 0;
  }
}

/**
 * Returns the last result before or at a frame, unless a seat has chosen a move since; else null.
 * @param {Frame[]} frames @param {number} at @param {number} seat
 */
export function resultFor(frames, at, seat) {
  for (let before = at; before >= 0; before -= 1) {
    if (frames[before].kind === "result") return frames[before];
    if (frames[before].movers.includes(seat)) return null;
  }
  return null;
}

/**
 * Returns the newest scene with the felt of the last result: its plays, its pot, its day or trick.
 * @param {Scene} now @param {Scene} result
 * @returns {Scene}
 */
export function resting(now, result) {
  const seats = now.seats.map((seat, at) => {
    const { plays, order, passed, forced, leads, won, change } = result.seats[at];
    return { ...seat, plays, order, passed, forced, leads, won, change };
  });
  const { day, round, trick, pot, stake, cancelled } = result;
  return { ...now, seats, day, round, trick, pot, stake, cancelled };
}

/** @param {Seat} seat @param {number} points */
function gain(seat, points) {
  seat.points += points;
  seat.change += points;
}

/** @param {Card} a @param {Card} b */
function byRank(a, b) {
  return (a.rank ?? 99) - (b.rank ?? 99);
}

/** @param {Scene} scene */
function part(scene) {
  return scene.day ? `Day ${scene.day}` : `Trick ${scene.trick}`;
}

/** Returns a rank within a sentence. @param {Rank} rank */
export function nameOf(rank) {
  return rank === 0 ? "a Claus" : String(rank);
}

/** Takes a card of a rank out of a hand, or a hidden one. @param {Card[]} hand @param {Rank} rank */
function take(hand, rank) {
  let at = rank === null ? -1 : hand.findIndex((card) => card.rank === rank);
  if (at < 0) at = hand.findLastIndex((card) => card.rank === null || rank === null);
  if (at < 0) throw new Error(`no card ${rank} in the hand`);
  return hand.splice(at, 1)[0];
}

/** @param {Card} card @param {number} rank */
function open(card, rank) {
  return { ...card, rank, by: undefined };
}

/** @param {Card[]} hand @param {Rank[]} ranks @param {Make} card */
function reveal(hand, ranks, card) {
  const hidden = [...ranks];
  for (const each of hand) {
    const at = hidden.indexOf(each.rank);
    if (each.rank !== null && at >= 0) hidden.splice(at, 1);
  }
  hand.forEach((each, at) => {
    if (each.rank === null) hand[at] = { ...each, rank: hidden.shift() ?? null };
  });
  for (const rank of hidden) hand.push(card(rank));
}

/** @param {Scene} scene  @returns {Scene} */
function copy(scene) {
  const seats = scene.seats.map((seat) => ({
    ...seat, hand: [...seat.hand], scored: [...seat.scored], faults: [...seat.faults],
  }));
  return { ...scene, seats };
}

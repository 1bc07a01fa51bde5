// NAME: a bot for twelve-days in AssemblyScript.
//
// The league writes a JSON text into the memory of this module and calls `choose`, which returns
// the address and the size of a move. The text has no spaces between its parts.
//
// Rules: `twelfth-night rules twelve-days`. What a bot sees: `twelfth-night rules observations`.

@external("league", "log")
declare function log(pointer: usize, size: i32): void;

let input: usize = 0;
let answer = new ArrayBuffer(0);

/** Prints a line that only the bot's owner sees. */
export function print(text: string): void {
  const bytes = String.UTF8.encode(text);
  log(changetype<usize>(bytes), bytes.byteLength);
}

/** The league checks the bot for this game only. */
export function plays_twelve_days(): void {}

/** Returns where the league writes the next text. */
export function allocate(size: i32): usize {
  if (input) heap.free(input);
  input = heap.alloc(size);
  return input;
}

/** Called once before the first move, with the game, the seats and the clock. Remove it if you
    don't need it. */
export function start(pointer: usize, size: i32): void {}

export function choose(pointer: usize, size: i32): u64 {
  const move = best(String.UTF8.decodeUnsafe(pointer, size));
  answer = String.UTF8.encode(move); // kept until the next move
  return ((changetype<usize>(answer) as u64) << 32) | answer.byteLength;
}

/** Returns a text between two others, such as the moves in `"legal_moves":["give 7","give 9"]`. */
function between(text: string, from: string, to: string): string {
  const at = text.indexOf(from) + from.length;
  return text.substring(at, text.indexOf(to, at));
}

function best(seen: string): string {
  const isPartridge = seen.includes('"game":"partridge"');
  const phase = between(seen, '"phase":"', '"');
  const hand = between(seen, '"hand":[', "]").split(",");
  const moves = between(seen, '"legal_moves":["', '"]').split('","');
  let pot = 0;
  if (!isPartridge) {
    const days = between(seen, '"pot":[', "]").split(",");
    for (let i = 0; i < days.length; i++) pot += number(days[i]);
  }
  let chosen = moves[0];
  let most = i32.MIN_VALUE;
  for (let i = 0; i < moves.length; i++) {
    const found = value(moves[i], phase, hand, pot, isPartridge);
    if (found > most) {
      most = found;
      chosen = moves[i];
    }
  }
  return chosen;
}

/** Returns how good a move is; the bot plays the best. */
function value(move: string, phase: string, hand: string[], pot: i32, isPartridge: bool): i32 {
  const cards = move.split(" ").slice(1);
  const first = cards.length ? number(cards[0]) : 0;
  // In partridge, play as many cards as possible, and lead high ones.
  if (isPartridge) return cards.length * 100 + (phase == "lead" ? first : 0);
  if (phase == "award") return 0; // a Claus gives the pot to the seat of your choice
  if (phase == "give") return first; // high cards rarely win a day
  if (pot > 8) return -first; // much is at stake: the lowest card may win it
  // A rank scores only if you hold the most cards of it. So play first the cards that you hold only
  // once, the highest of them first.
  let held = 0;
  for (let i = 0; i < hand.length; i++) held += hand[i] == cards[0] ? 1 : 0;
  return first - 100 * held;
}

function number(text: string): i32 {
  return parseInt(text) as i32;
}

// Checks a finished match's deal with the browser's own SHA-256: the seed fits the commitment, and
// the published shuffle (docs/reference/deals.md) gives every hand and every draw.

const hex = (/** @type {Uint8Array} */ bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const bytesOf = (/** @type {string} */ text) => Uint8Array.from(text.match(/../g) || [], (pair) => parseInt(pair, 16));

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/**
 * Returns the cards after shuffle number k.
 * @param {Uint8Array} seed @param {number} k @param {number[]} cards
 */
export async function shuffled(seed, k, cards) {
  const deck = [...cards].sort((a, b) => a - b);
  const input = new Uint8Array(40);
  input.set(seed);
  const view = new DataView(input.buffer);
  view.setUint32(32, k);
  /** @type {number[]} */
  let words = [];
  let block = 0;
  for (let j = deck.length - 1; j > 0; j -= 1) {
    const limit = 2 ** 32 - (2 ** 32 % (j + 1));
    let word;
    do {
      if (!words.length) {
        view.setUint32(36, block);
        block += 1;
        const hash = new DataView((await sha256(input)).buffer);
        words = Array.from({ length: 8 }, (_, at) => hash.getUint32(4 * at));
      }
      word = Number(words.shift());
    } while (word >= limit);
    const r = word % (j + 1);
    [deck[j], deck[r]] = [deck[r], deck[j]];
  }
  return deck;
}

/**
 * Checks a deal; `ok` is null if this browser can't.
 * @param {Replay} match
 * @returns {Promise<{ok: boolean|null, text: string, hands: number, draws: number}>}
 */
export async function checkDeal({ commitment, deal_seed: text, cards, names, phases }) {
  const seed = bytesOf(text);
  let [hands, draws, k, top] = [0, 0, 0, 0];
  const wrong = (/** @type {string} */ why) => ({ ok: false, text: `The deal is wrong: ${why}.`, hands, draws });
  if (!globalThis.crypto?.subtle) {
    const way = "Download the record and check it with the engine.";
    return { ok: null, text: `This browser can check deals only over HTTPS. ${way}`, hands, draws };
  }
  if (hex(await sha256(seed)) !== commitment) {
    return wrong("the SHA-256 of the seed is not the published commitment");
  }
  let deck = await shuffled(seed, k, cards);
  /** @type {number[]} */
  let discards = [];
  for (const event of phases.flatMap((phase) => phase.events)) {
    switch (event.kind) {
      case "round_dealt":
        k = event.round - 1;
        deck = await shuffled(seed, k, cards);
        top = 0;
        break;
      case "hand_dealt": {
        const hand = deck.slice(top, top + event.hand_size).sort((a, b) => a - b);
        top += event.hand_size;
        const shown = event.cards ?? [];
        if (hand.join() !== shown.join()) {
          return wrong(`${names[event.seat]} got ${shown.join(" ")}, but the shuffle deals ${hand.join(" ")}`);
        }
        hands += 1;
        break;
      }
      case "card_played":
        discards.push(event.rank);
        break;
      case "discards_reshuffled":
        if (top !== deck.length || discards.length !== event.cards) {
          return wrong("the discards were shuffled too early, or some of them were left out");
        }
        k += 1;
        deck = await shuffled(seed, k, discards);
        [top, discards] = [0, []];
        break;
      case "card_drawn":
        if (deck[top] !== event.rank) {
          return wrong(`${names[event.seat]} drew ${event.rank}, but the next card is ${deck[top]}`);
        }
        top += 1;
        draws += 1;
        break;
    }
  }
  const drawn = draws ? ` and all ${draws} draws` : "";
  return {
    ok: true,
    hands,
    draws,
    text: `The deal is fair: the seed fits the hash published before the match, and the shuffle gives all ${hands} hands${drawn}.`,
  };
}

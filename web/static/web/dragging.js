// Dragging: a legal card of the own hand that is dropped on the felt is played.

/** @typedef {import("./table/seated.js").Seated} Seated */

const DRAGGED = 10; // pixels after which a press becomes a drag

export class Dragging {
  /** @type {{card: HTMLButtonElement, id: number, x: number, y: number, moves: boolean}|null} */
  drag = null;
  /** A click before this time chooses no card: it ended a drag, or the moving of cards. */
  clicksFrom = -1000;

  /**
   * @param {HTMLElement} place
   * @param {{
   *   seated: () => Seated|null, mayDrag: () => boolean, staysAway: () => boolean,
   *   drop: (card: HTMLButtonElement) => void,
   * }} player  the table, once it shows an answer; whether a card may be dragged; whether a card that
   *   is let go stays there, because its move is on its way; plays a card
   */
  constructor(place, player) {
    this.player = player;
    place.addEventListener("pointerdown", (event) => this.begin(event));
    document.addEventListener("pointermove", (event) => this.move(event));
    document.addEventListener("pointerup", (event) => this.release(event, true));
    document.addEventListener("pointercancel", (event) => this.release(event, false));
  }

  /** Returns whether a click chooses something. @param {Event} event */
  isClick(event) {
    return event.timeStamp > this.clicksFrom;
  }

  /** @param {PointerEvent} event */
  begin(event) {
    const seated = this.player.seated();
    if (!seated) return;
    const target = /** @type {Element} */ (event.target);
    if (!seated.frames.isIdle && target.closest("[data-table]")) {
      seated.frames.finish();
      this.clicksFrom = event.timeStamp + 450; // this press ended the moving of cards, no more
      return;
    }
    const card = /** @type {HTMLButtonElement|null} */ (target.closest(".hand button.legal"));
    if (card && !event.button && this.player.mayDrag()) {
      this.drag = { card, id: event.pointerId, x: event.clientX, y: event.clientY, moves: false };
    }
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { drag } = this;
    if (!drag || event.pointerId !== drag.id) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moves) {
      if (Math.hypot(x, y) < DRAGGED) return;
      drag.moves = true;
      drag.card.setPointerCapture(drag.id);
      drag.card.classList.add("dragged");
    }
    drag.card.style.translate = `${x}px ${y}px`;
  }

  /** @param {PointerEvent} event @param {boolean} dropped */
  release(event, dropped) {
    const { drag, player } = this;
    if (!drag || event.pointerId !== drag.id) return;
    const { card, moves } = drag;
    this.drag = null;
    card.classList.remove("dragged");
    if (!moves) return;
    this.clicksFrom = event.timeStamp + 50;
    const table = /** @type {Seated} */ (player.seated());
    const felt = /** @type {Element} */ (table.view.felt).getBoundingClientRect();
    const hand = /** @type {Element} */ (card.closest(".hand")).getBoundingClientRect();
    const within = event.clientX > felt.left && event.clientX < felt.right;
    if (dropped && within && event.clientY > felt.top && event.clientY < hand.top) player.drop(card);
    if (!player.staysAway()) card.style.translate = "";
  }
}

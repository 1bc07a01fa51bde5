// The analysis beside a replay: its curve of chances is the bar to seek with, the verdict stands
// under the reason, and better moves are marked in the hands. The server wrote all words.

import { frameOfPly, showsMoves } from "./scene.js";

/**
 * @typedef {[ply: number, chances: number[], mark: string, text: number, better: [number, number[]][],
 *   moved: number[]|null]} Judged
 * @typedef {{texts: string[], first: number[], phases: Judged[]}} Data
 * @typedef {{frames: import("./scene.js").Frame[], at: number}} Player
 */

const NARROW = matchMedia("(max-width: 52rem)");
const FAULTS = ["mistake", "blunder"];

export class Beside {
  /**
   * @param {HTMLElement} table
   * @param {Player} player
   * @param {import("./transport.js").Transport} transport
   */
  constructor(table, player, transport) {
    Object.assign(this, { table, player, transport });
    /** @type {Data|null} */
    this.data = null;
    this.mount();
    if (NARROW.matches && location.hash !== "#analysis") this.panel.querySelector("details").open = false;
    document.addEventListener("parts-replaced", () => {
      if (!this.data && this.mount()) this.show();
    });
    document.addEventListener("submit", ({ target }) => {
      const step = this.panel.contains(target) && target.querySelector("[name=step]");
      if (step) step.value = String(Math.max(1, player.frames[player.at].step));
    });
    document.addEventListener("click", (event) => this.click(event));
  }

  get panel() {
    return document.getElementById("analysis");
  }

  /** Takes over what the server rendered; returns whether the analysis is there. */
  mount() {
    const source = document.getElementById("analysis-data");
    if (!source) return false;
    this.data = JSON.parse(source.textContent);
    const { frames } = this.player;
    const last = frames.length - 1;
    this.judged = new Map(this.data.phases.map((phase) => [phase[0], phase]));
    const ends = new Map(frames.map((frame, at) => [frame.ply, at])); // the last frame of each phase
    /** @type {[number, number[]][]} Where a chance is exact: frame and chances. */
    this.points = [[ends.get(0) ?? 0, this.data.first]];
    for (const [ply, chances, , , , moved] of this.data.phases) {
      if (moved) this.points.push([frameOfPly(frames, ply), moved]);
      this.points.push([ends.get(ply) ?? last, chances]);
    }
    const place = document.getElementById("chances");
    this.x = (at) => (1000 * at) / Math.max(1, last);
    place.querySelectorAll("[data-line]").forEach((line, seat) => {
      const start = this.points[0][0] > 0 ? [[0, this.points[0][1]]] : [];
      const points = [...start, ...this.points].map(([at, chances]) => `${this.x(at)},${100 - chances[seat]}`);
      line.setAttribute("points", points.join(" "));
    });
    this.turns = [...this.panel.querySelectorAll(".turns [data-ply]")];
    for (const turn of this.turns) this.dot(place.querySelector("svg"), turn);
    place.append(this.transport.seek);
    this.table.querySelector("[data-analysed]")?.removeAttribute("hidden");
    this.meters = [...this.table.querySelectorAll(".seat .plate")].map((plate, seat) => {
      const meter = document.createElement("i");
      meter.className = `meter c${seat}`;
      plate.append(meter);
      return meter;
    });
    return true;
  }

  /** Marks a turning point on the curve: a line without length, whose round end stays round. */
  dot(svg, turn) {
    const at = this.frameOf(turn);
    const dot = document.createElementNS(svg.namespaceURI, "path");
    const y = 100 - this.chances(at)[Number(turn.dataset.seat)];
    dot.setAttribute("class", `turn ${turn.dataset.mark ?? ""} c${turn.dataset.seat}`);
    dot.setAttribute("d", `M${this.x(at)} ${y}h.01`);
    svg.append(dot);
  }

  /** Returns the frame that a link leads to. @param {HTMLElement} link  with the ply of a phase */
  frameOf(link) {
    return Math.max(0, frameOfPly(this.player.frames, Number(link.dataset.ply), "cards" in link.dataset));
  }

  /** Returns the chances at a frame, between two phases by their distance. @param {number} at */
  chances(at) {
    const next = this.points.findIndex(([frame]) => frame >= at);
    const [to, after] = this.points[next] ?? this.points.at(-1);
    const [from, before] = this.points[Math.max(0, next - 1)];
    const share = to > from ? (at - from) / (to - from) : 1;
    return after.map((chance, seat) => before[seat] + share * (chance - before[seat]));
  }

  /** Shows the verdict and the chances of the current frame. */
  show() {
    if (!this.data) return;
    const { frames, at } = this.player;
    const frame = frames[at];
    const phase = showsMoves(frame) ? this.judged.get(frame.ply) : undefined;
    this.verdict(phase, frame);
    for (const [seat, ranks] of phase?.[4] ?? []) this.better(seat, ranks);
    const chances = this.chances(at).map(Math.round);
    chances.forEach((chance, seat) => {
      this.meters[seat].style.width = `calc(${chance / 100} * (100% - 1.6rem))`;
      for (const key of document.querySelectorAll(`[data-chance="${seat}"] b`)) key.textContent = `${chance} %`;
    });
    const best = chances.indexOf(Math.max(...chances));
    const name = this.table.querySelectorAll(".seat .name")[best].textContent.trim();
    this.transport.seek.setAttribute("aria-valuetext", `Step ${frame.step}, best chance: ${name}, ${chances[best]} %`);
    for (const turn of this.turns) {
      const link = turn.querySelector("a");
      const isHere = at === this.frameOf(turn);
      if (isHere) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
  }

  /**
   * Shows the verdict on a phase; with the result of a day or trick, that on the worst fault in it.
   * @param {Judged|undefined} phase  undefined: no move was made in this frame
   * @param {import("./scene.js").Frame} frame
   */
  verdict(phase, frame) {
    const line = document.getElementById("verdict");
    line.replaceChildren();
    if (!phase) return;
    const worst = frame.kind === "result" && !FAULTS.includes(phase[2]) ? this.worst(frame.step) : undefined;
    const [, , mark, text] = worst ?? phase;
    if (FAULTS.includes(mark)) {
      const chip = document.createElement("span");
      chip.className = `mark ${mark}`;
      chip.textContent = mark;
      line.append(chip, " ");
    }
    line.append(worst ? "Earlier: " : "", this.data.texts[text]);
  }

  /** Returns the worst fault in a step, if there is one. @param {number} step */
  worst(step) {
    const of = this.player.frames.filter((each) => each.step === step && showsMoves(each));
    const found = of.map((each) => this.judged.get(each.ply)).filter((each) => each && FAULTS.includes(each[2]));
    return found.find((each) => each[2] === "blunder") ?? found[0];
  }

  /** Marks the cards of the better move in a hand, or among the cards that lie on the felt. */
  better(seat, ranks) {
    const box = this.table.querySelector(`[data-seat="${seat}"]`);
    for (const rank of ranks) {
      const free = [...box.querySelectorAll(`.hand .r${rank}, .plays .r${rank}`)].filter(
        (card) => !card.classList.contains("better"));
      const card = free.findLast((each) => each.closest(".hand") && !each.classList.contains("fresh")) ?? free.at(-1);
      if (!card) continue; // hidden from this seat, or handed on
      card.classList.add("better");
      const said = document.createElement("span");
      said.className = "unseen";
      said.textContent = ", better move";
      card.append(said);
    }
  }

  /** Follows a link to a phase or step without loading the page. @param {MouseEvent} event */
  click(event) {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || !this.data) return;
    const link = event.target.closest?.("#analysis a[href^='?step=']");
    if (!link) return;
    event.preventDefault();
    const phase = link.closest("[data-ply]");
    this.transport.go(phase ? this.frameOf(phase) : this.player.jump(Number(link.dataset.to)));
    const { top } = this.table.getBoundingClientRect();
    if (top < -200 || top > innerHeight / 2) this.table.scrollIntoView();
  }
}

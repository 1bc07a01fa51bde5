// The analysis beside a replay: its curve of chances is the bar to seek with, the verdict stands
// under the reason, and better moves are marked in the hands. The server wrote all words.

import { frameOfPly, showsMoves } from "./replayed.js";
import { isPlain } from "./transport.js";
import { element, part, parts } from "./view.js";

const NARROW = matchMedia("(max-width: 52rem)");
const FAULTS = ["mistake", "blunder"];

export class Beside {
  /** @param {HTMLElement} table @param {Player} player @param {Transport} transport */
  constructor(table, player, transport) {
    this.table = table;
    this.player = player;
    this.transport = transport;
    /** @type {AnalysisData} */
    this.data = { texts: [], first: [], phases: [] };
    /** @type {[number, number[]][]} Where a chance is exact: frame and chances; none before `mount`. */
    this.points = [];
    /** The button to the next turning point. */
    this.next = part(table, "[data-turn]");
    this.next.addEventListener("click", () => this.toNextTurn());
    this.mount();
    if (NARROW.matches && location.hash !== "#analysis") part(this.panel, "details").removeAttribute("open");
    document.addEventListener("parts-replaced", () => {
      if (!this.points.length && this.mount()) this.show();
    });
    document.addEventListener("submit", (event) => {
      const form = /** @type {Element} */ (event.target);
      /** @type {HTMLInputElement|null} */
      const step = form.querySelector("[name=step]");
      if (step && this.panel.contains(form)) step.value = String(Math.max(1, player.frames[player.at].step));
    });
    document.addEventListener("click", (event) => this.click(event));
  }

  get panel() {
    return part(document, "#analysis");
  }

  get turns() {
    return parts(this.panel, ".turns [data-ply]");
  }

  /** Takes over what the server rendered; returns whether the analysis is there. */
  mount() {
    const source = document.getElementById("analysis-data");
    if (!source) return false;
    this.data = JSON.parse(source.textContent);
    const { frames } = this.player;
    const last = frames.length - 1;
    const ends = new Map(frames.map((frame, at) => [frame.ply, at])); // the last frame of each phase
    this.points = [[0, this.data.first]];
    const begin = ends.get(0);
    if (begin) this.points.push([begin, this.data.first]);
    for (const [ply, chances, , , , moved] of this.data.phases) {
      if (moved) this.points.push([frameOfPly(frames, ply), moved]);
      this.points.push([ends.get(ply) ?? last, chances]);
    }
    const place = part(document, "#chances");
    place.querySelectorAll("[data-line]").forEach((line, seat) => {
      const points = this.points.map(([at, chances]) => `${this.x(at)},${100 - chances[seat]}`);
      line.setAttribute("points", points.join(" "));
    });
    for (const turn of this.turns) this.dot(part(place, "svg"), turn);
    this.next.hidden = !this.turns.length;
    place.append(this.transport.seek);
    for (const each of parts(this.table, "[data-analysed]")) each.removeAttribute("hidden");
    parts(this.table, ".seat .plate").forEach((plate, seat) => {
      plate.append(element("i", `meter c${seat}`));
    });
    return true;
  }

  /** Returns where a frame is on the curve. @param {number} at */
  x(at) {
    return (1000 * at) / Math.max(1, this.player.frames.length - 1);
  }

  /** Marks a turning point on the curve: a line without length, whose round end stays round.
   * @param {Element} svg @param {HTMLElement} turn */
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

  /** Goes to the next turning point; after the last one, to the first. */
  toNextTurn() {
    const turns = [...this.turns].map((turn) => this.frameOf(turn)).sort((a, b) => a - b);
    this.transport.go(turns.find((at) => at > this.player.at) ?? turns[0]);
  }

  /** Returns the chances at a frame, between two phases by their distance. @param {number} at */
  chances(at) {
    const next = this.points.findIndex(([frame]) => frame >= at);
    const [to, after] = this.points[next] ?? this.points[this.points.length - 1];
    const [from, before] = this.points[Math.max(0, next - 1)];
    const share = to > from ? (at - from) / (to - from) : 1;
    return after.map((chance, seat) => before[seat] + share * (chance - before[seat]));
  }

  /** Shows the verdict and the chances of the current frame. */
  show() {
    if (!this.points.length) return;
    const { frames, at } = this.player;
    const frame = frames[at];
    const phase = showsMoves(frame) ? this.data.phases.find(([ply]) => ply === frame.ply) : undefined;
    this.verdict(phase, frame);
    for (const [seat, ranks] of phase?.[4] ?? []) this.better(seat, ranks);
    const chances = this.chances(at).map(Math.round);
    chances.forEach((chance, seat) => {
      part(this.table, `.meter.c${seat}`).style.width = `calc(${chance / 100} * (100% - 1.6rem))`;
      part(this.table, `.meter.c${seat}`).parentElement?.setAttribute("title", `Chance of the first place: ${Math.round(chance)} %`);
      const text = chance === 100 && at < frames.length - 1 ? "> 99 %" : `${chance} %`; // nothing is sure before the end
      for (const key of document.querySelectorAll(`[data-chance="${seat}"] b`)) key.textContent = text;
    });
    const best = chances.indexOf(Math.max(...chances));
    const name = parts(this.table, ".seat .name")[best].textContent.trim();
    this.transport.seek.setAttribute("aria-valuetext", `${this.transport.where}, best chance: ${name}, ${chances[best]} %`);
    for (const turn of this.turns) {
      const link = part(turn, "a");
      const isHere = at === this.frameOf(turn);
      if (isHere) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
  }

  /**
   * Shows the verdict on a phase; with the result of a day or trick, also the worst earlier fault in it.
   * @param {Judged|undefined} phase  undefined: no move was made in this frame
   * @param {Frame} frame
   */
  verdict(phase, frame) {
    const line = part(document, "#verdict");
    line.replaceChildren();
    if (!phase) return;
    const worst = frame.kind === "result" ? this.worst(frame.step, phase) : undefined;
    const [, , last, text] = phase;
    const texts = [this.data.texts[text]];
    const earlier = worst ? this.data.texts[worst[3]] : "";
    // The mark stands before the text, so it is the mark of the first sentence.
    const isWorse = worst && (!FAULTS.includes(last) || (worst[2] === "blunder" && last !== "blunder"));
    const mark = isWorse ? worst[2] : last;
    if (isWorse && !FAULTS.includes(last)) texts.splice(0, 1, `Earlier in this step: ${earlier}`);
    else if (isWorse) texts.splice(0, 1, earlier, `Later in this step: ${texts[0]}`);
    else if (worst) texts.push(`Earlier in this step: ${earlier}`);
    if (FAULTS.includes(mark)) line.append(element("span", `mark ${mark}`, mark), " ");
    line.append(texts.join(" "));
  }

  /** Returns the worst fault in a step before its last phase, if there is one.
   * @param {number} step @param {Judged} last */
  worst(step, last) {
    const of = this.player.frames.filter((each) => each.step === step && showsMoves(each)).map(({ ply }) => ply);
    const found = this.data.phases.filter((each) => each !== last && of.includes(each[0]) && FAULTS.includes(each[2]));
    return found.find((each) => each[2] === "blunder") ?? found[0];
  }

  /** Marks the cards of the better move in a hand or on the felt. @param {number} seat @param {number[]} ranks */
  better(seat, ranks) {
    const box = part(this.table, `[data-seat="${seat}"]`);
    for (const rank of ranks) {
      const free = [...box.querySelectorAll(`.hand .r${rank}, .plays .r${rank}`)].filter(
        (card) => !card.classList.contains("better"));
      const card = free.findLast((each) => each.closest(".hand")) ?? free.at(-1); // the front one of a pile
      if (!card) continue; // hidden from this seat, or handed on
      card.classList.add("better");
      card.append(element("span", "unseen", ", better move"));
    }
  }

  /** Follows a link to a phase or step without loading the page. @param {MouseEvent} event */
  click(event) {
    if (!isPlain(event) || !this.points.length) return;
    const target = /** @type {Element} */ (event.target);
    /** @type {HTMLElement|null} */
    const link = target.closest?.("#analysis a[href^='?step=']");
    if (!link) return;
    event.preventDefault();
    /** @type {HTMLElement|null} */
    const phase = link.closest("[data-ply]");
    this.transport.go(phase ? this.frameOf(phase) : this.player.jump(Number(link.dataset.to)));
    const { top } = this.table.getBoundingClientRect();
    if (top < -200 || top > innerHeight / 2) this.table.scrollIntoView();
  }
}

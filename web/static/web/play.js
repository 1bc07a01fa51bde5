// The moves of a player: chosen by click, drag or key, and sent. `table/seated.js` shows the match.
// Moves go to the calls that bots use: POST matches/{id}/moves with the play token, and
// GET turns?wait to wait. If a call fails, the forms work as they do without JavaScript.

import { passes, StatusError } from "./failures.js";
import { Notice, wordsOf } from "./notices.js";
import { addNews, countDown, find, renew } from "./panel.js";
import { Seated } from "./table/seated.js";
import { follow } from "./table/source.js";

const place = /** @type {HTMLElement} */ (document.getElementById("table"));
const API = "/api/v1";
const MOST_TRIES = 3; // of a move, before the form sends it

/** @type {Seated} */
let seated;
/** @type {Answer} */
let now; // the answer that the page shows
let shown = ""; // what the panel shows
/** @type {HTMLButtonElement[]} */
let chosen = []; // the cards that are selected for a combination
/** @type {HTMLElement|null} */
let armed = null; // the button that a second click confirms
let sending = 0; // moves on their way
let sent = -1; // the turn of the last of them
let listening = false;
let calls = true; // whether the API's calls can be reached

const token = () => ({ Authorization: `Bearer ${place.dataset.token}` });
const isTurn = () => place.dataset.turn !== undefined;
const isCombined = () => "combined" in find("moves").dataset;
const sleep = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms));
const notice = new Notice(find("notice"));

async function refresh(query = "") {
  const answer = await seated.refresh(query);
  if (answer.state !== "playing") {
    history.scrollRestoration = "manual"; // the result stands at the top
    location.reload();
  }
}

// -- What the page shows --

/** Shows an answer once all its cards are on the table. @param {Answer} answer */
function settled(answer) {
  now = answer;
  find("confirm").closest("[hidden]")?.removeAttribute("hidden"); // from now on, keys choose cards
  const hadTurn = place.dataset.turn;
  if (answer.turn === null) delete place.dataset.turn;
  else place.dataset.turn = String(answer.turn);
  document.title = `${isTurn() ? "Your move" : "Play"} – Twelfth Night`;
  place.classList.toggle("sending", sending > 0 && answer.turn === sent);
  const panel = JSON.stringify([answer.turn, answer.hint, answer.has_left, answer.turn === null && answer.thinking]);
  if (panel !== shown) {
    shown = panel;
    const focused = document.activeElement;
    const held = focused === document.body || place.contains(focused);
    chosen = [];
    armed = null;
    renew(answer.panel);
    const isLost = focused !== document.body && document.activeElement === document.body;
    if ((held && isTurn() && hadTurn !== place.dataset.turn) || isLost) {
      find("question").focus({ preventScroll: true });
    }
  }
  const { remaining_ms: ms } = answer;
  countDown(ms === null ? null : ms - (performance.now() - seated.cameAt), soon);
  addNews(seated.takeNews());
  dress();
}

/** Marks the cards that are in a legal move; in a combined game cards are switches. */
function dress() {
  const { choices, hint } = now;
  const legal = new Set(choices.flatMap((choice) => choice.cards));
  const alone = new Map(
    choices.filter(({ cards }) => cards.length === 1).map((each) => [each.cards[0], each]),
  );
  const hinted = hint ? ranksOf(hint) : [];
  for (const card of seated.cards) {
    const rank = rankOf(card);
    const choice = alone.get(rank);
    card.style.translate = "";
    card.classList.toggle("legal", isTurn() && legal.has(rank));
    card.classList.toggle("idle", isTurn() && !legal.has(rank));
    card.classList.toggle("chosen", card === armed);
    const at = hinted.indexOf(rank);
    card.toggleAttribute("data-hinted", at >= 0);
    if (at >= 0) hinted.splice(at, 1); // of two equal cards, one is marked
    card.setAttribute("aria-disabled", String(!card.classList.contains("legal")));
    const name = rank ? String(rank) : "Claus";
    card.setAttribute("aria-label", choice && !isCombined() ? choice.words : name);
    if (isTurn() && isCombined()) card.setAttribute("aria-pressed", "false");
    else card.removeAttribute("aria-pressed");
  }
  const play = find("play-chosen");
  if (play) {
    play.hidden = false;
    find("clear-chosen").hidden = false;
    find("moves").classList.add("scripted");
    mark();
  }
}

// -- Sending and waiting --

/** @param {string} move */
async function send(move) {
  // An answer on the next turn may come before the answer to a move, so turns are compared.
  const turn = Number(place.dataset.turn);
  if (!isTurn() || turn === sent) return;
  sent = turn;
  sending += 1;
  place.classList.add("sending");
  find("question").textContent = "Sending your move";
  notice.show("");
  let problem = "";
  let isSent = true;
  try {
    problem = await post(turn, move);
    if (!problem) find("question").textContent = "The others play";
  } catch {
    isSent = false;
  }
  if (problem || !isSent) [shown, sent] = ["", -1]; // the panel is shown anew: no card is chosen
  while (!(await notice.settles(refresh)));
  if (!isSent && seated.answer?.turn === turn) problem = "Your move did not arrive. Play it again.";
  notice.show(problem);
  sending -= 1;
  wait();
}

/**
 * Sends a move; returns why it was refused, or "".
 * @param {number} turn @param {string} move
 */
async function post(turn, move) {
  for (let tries = 0; calls && tries < MOST_TRIES; tries += 1) {
    const answer = await fetch(`${API}/matches/${place.dataset.match}/moves`, {
      method: "POST",
      headers: { ...token(), "Content-Type": "application/json" },
      body: JSON.stringify({ turn, move }),
    });
    if (answer.ok) return "";
    // No gateway stands here, or the account plays on another device too: that has the token now.
    if ([401, 404].includes(answer.status)) calls = false;
    else if (!passes(answer)) return wordsOf(answer);
    else await notice.rest(new StatusError(answer));
  }
  const body = new FormData(find("moves"));
  body.set("move", move);
  const answer = await fetch(find("moves").action, { method: "POST", body });
  return answer.ok ? "" : `Your move was refused (status ${answer.status}). Make it again.`;
}

/** Waits for the own turn; what others do meanwhile comes by the match's events. */
async function wait() {
  if (listening) return;
  listening = true;
  while (!seated.answer || seated.answer.turn === null) await notice.settles(waitOnce);
  listening = false;
}

async function waitOnce() {
  if (calls) {
    const answer = await fetch(`${API}/turns?wait=20`, { headers: token() });
    if (answer.ok) await answer.json();
    else if (passes(answer)) await notice.rest(new StatusError(answer));
    else calls = false; // no gateway stands here, or the token no longer works
  } else await sleep(1500);
  if (!sending) await refresh();
}

let planned = 0;
function soon() {
  clearTimeout(planned);
  planned = setTimeout(() => {
    if (!sending) refresh().then(wait, () => {});
  }, 120);
}

// -- Choosing --

const rankOf = (/** @type {HTMLElement} */ card) => Number(card.dataset.rank);
const ranksOf = (/** @type {string} */ move) => move.split(" ").slice(1).map(Number);
const asText = (/** @type {HTMLElement[]} */ cards) =>
  `play ${cards.map(rankOf).sort((a, b) => b - a).join(" ")}`;

/**
 * Makes a move, or asks to press its button again.
 * @param {HTMLElement} button @param {string} move
 */
function pick(button, move) {
  if (!isTurn()) return;
  if (find("confirm").checked && armed !== button) {
    document.querySelectorAll(".chosen").forEach((each) => each.classList.remove("chosen"));
    armed = button;
    button.classList.add("chosen");
    const { words } = choiceOf((each) => each.text === move);
    find("question").textContent = `${words}: press again to confirm`;
    return;
  }
  send(move);
}

/** @param {(each: Choice) => boolean} fitting  @returns {Choice} the first such move, which there is */
const choiceOf = (fitting) => /** @type {Choice} */ (now.choices.find(fitting));

/** Plays a card alone, or selects it for a combination. @param {HTMLButtonElement} card */
function press(card) {
  if (!card.classList.contains("legal")) return;
  if (isCombined()) toggle(card);
  else pick(card, choiceOf(({ cards }) => cards[0] === rankOf(card)).text);
}

function playChosen() {
  const play = find("play-chosen");
  if (play) pick(play, asText(chosen));
}

/** @param {number[]} ranks @param {number[]} part */
function contains(ranks, part) {
  const left = [...ranks];
  return part.every((rank) => {
    const at = left.indexOf(rank);
    return at >= 0 && left.splice(at, 1);
  });
}

const some = (/** @type {(each: Choice) => boolean} */ fitting) => now.choices.some(fitting);
const fits = (/** @type {HTMLElement[]} */ cards) =>
  some((choice) => contains(choice.cards, cards.map(rankOf)));
const isMove = (/** @type {HTMLElement[]} */ cards) =>
  some(({ text }) => cards.length > 0 && text === asText(cards));

function mark() {
  const play = find("play-chosen");
  if (!play) return;
  const ranks = chosen.map(rankOf).sort((a, b) => b - a).join(" ");
  const label = labelOf(ranks);
  play.disabled = !isMove(chosen);
  play.textContent = label;
  find("clear-chosen").disabled = !chosen.length;
  const said = chosen.length ? `Selected: ${ranks}. ${label}.` : "Nothing is selected.";
  if (find("selection").textContent || chosen.length) find("selection").textContent = said;
  for (const card of seated.cards) {
    const on = chosen.includes(card);
    card.setAttribute("aria-pressed", String(on));
    card.classList.toggle("apart", !on && chosen.length > 0 && !fits([...chosen, card]));
  }
}

/** Returns the label of the button that plays the selected cards. @param {string} ranks */
function labelOf(ranks) {
  if (!isTurn()) return "Wait for your turn";
  if (!some(({ cards }) => cards.length > 0)) return "No card fits";
  if (!chosen.length) return "Select cards";
  return isMove(chosen) ? `Play ${ranks}` : `Add cards to ${ranks}`;
}

/** Takes the selection back. */
function clearChosen() {
  chosen = [];
  mark();
}

/** @param {HTMLButtonElement} card */
function toggle(card) {
  if (chosen.includes(card)) chosen = chosen.filter((each) => each !== card);
  else if (fits([...chosen, card])) chosen.push(card);
  else chosen = [card]; // the card begins another combination
  mark();
}

/** Plays a card that was dropped on the felt, with the others that are selected. @param {HTMLButtonElement} card */
function drop(card) {
  if (isCombined() && !chosen.includes(card)) toggle(card);
  if (!isCombined()) press(card);
  else if (isMove(chosen)) playChosen();
}

/** @type {import("./dragging.js").Dragging|null} */
let dragging = null;

// Keys need no dragging, so it is loaded when a pointer first comes to the table.
place.addEventListener("pointerover", async () => {
  const { Dragging } = await import("./dragging.js");
  dragging = new Dragging(place, {
    seated: () => (now ? seated : null), mayDrag: isTurn, staysAway: () => sending > 0, drop,
  });
  place.dataset.drags = "";
}, { once: true });

/** Returns whether a click on a card chooses it. @param {Event} event */
function chooses(event) {
  if (dragging) return dragging.isClick(event);
  const isIdle = seated.frames.isIdle;
  seated.frames.finish(); // the first click ends the moving of cards
  return isIdle;
}

/** @param {Event} event  @returns {Element} */
const targetOf = (event) => /** @type {Element} */ (event.target);

document.addEventListener("click", (event) => {
  const button = /** @type {HTMLButtonElement|null} */ (targetOf(event).closest("button, [data-hint]"));
  if (!now || !button || !place.contains(button)) return;
  if (button.matches("[data-hint]")) {
    event.preventDefault();
    refresh("&hint=1").then(wait, () => location.assign(button.getAttribute("href") ?? ""));
  } else if (button.closest(".hand")) {
    event.preventDefault();
    if (chooses(event)) press(button);
  } else if (button.id === "play-chosen") playChosen();
  else if (button.id === "clear-chosen") clearChosen();
  else if (button.name === "move") {
    event.preventDefault();
    pick(button, button.value);
  }
});

// Keys: digits choose a card by rank (1 then 0 within a second is 10), arrows move between cards.
let [typed, typedAt] = ["", 0];
document.addEventListener("keydown", (event) => {
  if (!now || event.ctrlKey || event.metaKey || event.altKey) return;
  if (targetOf(event).closest("input, select, textarea")) return;
  if (!seated.frames.isIdle && place.contains(targetOf(event)) && event.key !== "Tab") {
    seated.frames.finish(); // the first key ends the moving of cards
    event.preventDefault();
    return;
  }
  const cards = seated.cards;
  const at = cards.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
  if (!/^\d$/.test(event.key)) typed = "";
  if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    const step = event.key === "ArrowRight" ? 1 : -1;
    cards[(at + step + cards.length) % cards.length]?.focus();
    event.preventDefault();
  } else if (/^\d$/.test(event.key)) {
    typed = event.timeStamp - typedAt < 1000 ? (typed + event.key).slice(-2) : event.key;
    typedAt = event.timeStamp;
    const of = (/** @type {string} */ rank) => cards.find((card) => card.dataset.rank === rank && !chosen.includes(card));
    (of(typed) ?? of(event.key))?.focus();
  } else if (event.key === "p") {
    /** @type {HTMLElement|null} */ (document.querySelector(".choice.pass"))?.click();
  } else if (event.key === "Escape" && chosen.length) {
    clearChosen();
  } else if (event.key === "Enter" && chosen.includes(cards[at]) && isMove(chosen)) {
    event.preventDefault();
    playChosen();
  }
});

// -- Begin --

if (place.dataset.state === "playing") {
  seated = new Seated(/** @type {HTMLElement} */ (place.querySelector("[data-table]")), settled);
  const confirm = find("confirm");
  try {
    confirm.checked = localStorage.getItem("confirm-moves") === "yes";
    confirm.addEventListener("change", () =>
      localStorage.setItem("confirm-moves", confirm.checked ? "yes" : "no"),
    );
  } catch {
    // the browser stores nothing: the choice holds for this page
  }
  // The browser's clock may stop while the machine sleeps.
  document.addEventListener("visibilitychange", () => document.hidden || soon());
  const nothing = () => {};
  const to = { phase: soon, end: soon, clock: nothing, state: nothing };
  follow(`${API}/matches/events`, Number(place.dataset.match), to);
  refresh(location.search.includes("hint") ? "&hint=1" : "").catch(nothing).then(wait);
}

// Plays a match without loading pages. Moves go to the calls that bots use: POST
// matches/{id}/moves with the play token, and GET turns?wait to wait. After each change the page is
// fetched and its table replaced. If a call fails, the forms work as they do without JavaScript.

const place = () => document.getElementById("table");
const API = "/api/v1";
let chosen = []; // ranks of the cards that are selected for a combination
let armed = null; // the button that a second click confirms
let busy = false;
let listening = null; // the request that waits for a turn
let stream = null;
let shown = sent(place()); // the table as the server sent it last
let calls = true; // whether the API's calls can be reached

const token = () => ({ Authorization: `Bearer ${place().dataset.token}` });
const confirms = () => document.getElementById("confirm")?.checked;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function refresh(address = location.pathname) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(answer.statusText);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const now = fresh.getElementById("table");
  if (!now || answer.redirected || now.dataset.state !== place().dataset.state) {
    location.reload(); // the match started or ended, or the page is another one
    return;
  }
  const before = place();
  const hadTurn = before.dataset.turn;
  const held = before.contains(document.activeElement) || document.activeElement === document.body;
  if (shown === sent(now)) return;
  shown = sent(now);
  before.replaceWith(now);
  document.title = fresh.title;
  chosen = [];
  armed = null;
  dress();
  const news = fresh.querySelector(".messages");
  document.querySelector(".messages")?.remove();
  if (news) document.getElementById("main").prepend(news);
  if (held && now.dataset.turn && now.dataset.turn !== hadTurn) {
    document.getElementById("question").focus({ preventScroll: true });
  }
}

// What the server sent, without the parts that differ in each answer.
function sent(part) {
  const copy = part.cloneNode(true);
  copy.querySelectorAll("[name=csrfmiddlewaretoken], .clock").forEach((each) => each.remove());
  return copy.outerHTML;
}

async function send(move) {
  if (busy) return;
  busy = true;
  const turn = Number(place().dataset.turn);
  place().classList.add("sending");
  try {
    if (calls) {
      const answer = await fetch(`${API}/matches/${place().dataset.match}/moves`, {
        method: "POST",
        headers: { ...token(), "Content-Type": "application/json" },
        body: JSON.stringify({ turn, move }),
      });
      if (answer.status === 404 || answer.status >= 500) calls = false;
    }
    if (!calls) {
      const body = new FormData(document.getElementById("moves"));
      body.set("move", move);
      await fetch(document.getElementById("moves").action, { method: "POST", body });
    }
    await refresh();
  } catch {
    location.reload();
  } finally {
    busy = false;
    place().classList.remove("sending");
    wait();
  }
}

// Waits for the own turn; what others do meanwhile comes by the match's events.
async function wait() {
  if (listening || place().dataset.state !== "playing") return;
  listening = new AbortController();
  try {
    while (place().dataset.turn === undefined) {
      if (calls) {
        const answer = await fetch(`${API}/turns?wait=20`, {
          headers: token(),
          signal: listening.signal,
        });
        if (answer.ok) await answer.json();
        else calls = false;
      } else await sleep(1500);
      if (!busy) await refresh();
    }
  } catch {
    await sleep(3000);
  }
  listening = null;
  if (place().dataset.turn === undefined) wait();
}

let planned = 0;
function soon() {
  clearTimeout(planned);
  planned = setTimeout(() => {
    if (!busy) refresh().catch(() => {});
  }, 120);
}

function watch() {
  if (place().dataset.state !== "playing" || stream) return;
  stream = new EventSource(`${API}/matches/${place().dataset.match}/events`);
  stream.addEventListener("phase", soon);
  stream.addEventListener("end", () => {
    stream.close();
    soon();
  });
}

// -- Choosing -------------------------------------------------------------------------------

function pick(button) {
  const move = button.value;
  if (confirms() && armed !== button) {
    document.querySelectorAll(".chosen").forEach((each) => each.classList.remove("chosen"));
    armed = button;
    button.classList.add("chosen");
    ask(`${button.dataset.words}: press again to confirm`);
    return;
  }
  send(move);
}

function ask(text) {
  const question = document.getElementById("question");
  question.dataset.asked ??= question.textContent;
  question.textContent = text;
}

const asText = (ranks) => `play ${[...ranks].sort((a, b) => b - a).join(" ")}`;

// Turns the cards of a combined game into switches: the selected cards make the move.
function dress() {
  const form = document.getElementById("moves");
  clearInterval(dress.timer);
  if (!form) return;
  tick();
  if (!("combined" in form.dataset) || place().dataset.turn === undefined) return;
  form.classList.add("scripted");
  for (const old of [...form.querySelectorAll(".own-hand .card")]) {
    const card = document.createElement("button");
    card.type = "button";
    card.className = `card r${old.dataset.rank}`;
    card.dataset.rank = old.dataset.rank;
    card.textContent = old.dataset.rank;
    card.setAttribute("aria-pressed", "false");
    old.replaceWith(card);
  }
  const play = document.createElement("button");
  play.type = "button";
  play.id = "play-chosen";
  play.className = "button";
  form.querySelector(".own-hand").after(play);
  mark();
}

const moves = () =>
  [...document.querySelectorAll(".choices button")].map((button) => button.value);

const ranksOf = (move) => move.split(" ").slice(1).map(Number);

function contains(ranks, part) {
  const left = [...ranks];
  return part.every((rank) => {
    const at = left.indexOf(rank);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

function mark() {
  const all = moves();
  const picked = chosen.map(({ rank }) => rank);
  const play = document.getElementById("play-chosen");
  const legal = picked.length > 0 && all.includes(asText(picked));
  play.disabled = !legal;
  play.textContent = picked.length
    ? `Play ${[...picked].sort((a, b) => b - a).join(" ")}`
    : "Select cards to play";
  for (const card of document.querySelectorAll("#moves .own-hand .card")) {
    const on = chosen.some((each) => each.card === card);
    const rank = Number(card.dataset.rank);
    const fits = on || all.some((move) => contains(ranksOf(move), [...picked, rank]));
    card.setAttribute("aria-pressed", String(on));
    card.setAttribute("aria-disabled", String(!fits));
  }
}

function toggle(card) {
  const rank = Number(card.dataset.rank);
  if (chosen.some((each) => each.card === card)) {
    chosen = chosen.filter((each) => each.card !== card);
  } else if (moves().some((m) => contains(ranksOf(m), [...chosen.map((c) => c.rank), rank]))) {
    chosen.push({ card, rank });
  } else if (moves().some((move) => contains(ranksOf(move), [rank]))) {
    chosen = [{ card, rank }]; // the card begins another combination
  }
  mark();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  const hint = event.target.closest("[data-hint]");
  if (hint) {
    event.preventDefault();
    refresh(`${location.pathname}?hint=1`).catch(() => location.assign(hint.href));
    return;
  }
  if (!button || !button.closest("#moves")) return;
  event.preventDefault();
  if (button.id === "play-chosen") {
    button.value = asText(chosen.map(({ rank }) => rank));
    button.dataset.words = button.textContent;
    pick(button);
  } else if (button.hasAttribute("aria-pressed")) toggle(button);
  else pick(button);
});

// Keys: digits choose a card by rank (1 then 0 within a second is 10), arrows move between cards.
let typed = "";
let typedAt = 0;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  const cards = [...document.querySelectorAll("#moves .own-hand button")];
  if (!cards.length) return;
  const at = cards.indexOf(document.activeElement);
  if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    const step = event.key === "ArrowRight" ? 1 : -1;
    cards[(at + step + cards.length) % cards.length].focus();
    event.preventDefault();
  } else if (/^\d$/.test(event.key)) {
    typed = event.timeStamp - typedAt < 1000 ? (typed + event.key).slice(-2) : event.key;
    typedAt = event.timeStamp;
    const find = (rank) => cards.find((card) => card.dataset.rank === rank && !on(card));
    (find(typed) ?? find(event.key))?.focus();
  } else if (event.key === "p") {
    document.querySelector(".choice.pass")?.click();
  }
});
const on = (card) => card.getAttribute("aria-pressed") === "true";

// -- The clock ------------------------------------------------------------------------------

function tick() {
  const clock = document.querySelector(".clock");
  if (!clock) return;
  const ends = performance.now() + Number(clock.dataset.ms);
  const show = () => {
    const left = Math.max(0, Math.ceil((ends - performance.now()) / 1000));
    clock.textContent = `${left} s left`;
    clock.classList.toggle("hurry", left <= 10);
    if (!left) {
      clearInterval(dress.timer);
      soon();
    }
  };
  show();
  dress.timer = setInterval(show, 500);
}

async function room() {
  for (;;) {
    await sleep(2500);
    if (!document.hidden) await refresh().catch(() => {});
  }
}

const confirm = document.getElementById("confirm");
if (confirm) {
  confirm.closest("[hidden]").hidden = false;
  confirm.checked = localStorage.getItem("confirm-moves") === "yes";
  confirm.addEventListener("change", () =>
    localStorage.setItem("confirm-moves", confirm.checked ? "yes" : "no"),
  );
}
if (place()?.dataset.state === "playing") {
  dress();
  watch();
  wait();
} else if (place()?.dataset.state === "room") room();

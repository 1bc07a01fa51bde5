// The editor of "Write a bot": Ace in place of the textarea, and the draft in this browser's storage.
// Without JavaScript the textarea is the editor.

const KEY = "draft-of-";

/** @returns {string|null} */
function read(/** @type {string} */ game) {
  try {
    return localStorage.getItem(KEY + game);
  } catch {
    return null; // storage is switched off
  }
}

/** Store a draft; return whether the browser stored it. */
function write(/** @type {string} */ game, /** @type {string} */ text) {
  try {
    localStorage.setItem(KEY + game, text);
    localStorage.setItem(`${KEY}last`, game);
    return true;
  } catch {
    return false; // the draft is then lost with the page
  }
}

/** Take the trial out of the address: it is older than the draft, so a reload shows the draft. */
function leaveTrial() {
  const here = document.querySelector(".switch [aria-current]");
  if (here instanceof HTMLAnchorElement && here.href !== location.href) {
    history.replaceState(null, "", here.href);
  }
}

/** Ace under the strict policy: no inline style and no worker, its files by their addresses. */
function dress(/** @type {HTMLTextAreaElement} */ area) {
  const ace = /** @type {any} */ (window).ace;
  if (!ace) return null;
  ace.config.set("useStrictCSP", true);
  ace.config.set("basePath", new URL(".", new URL(area.dataset.ace ?? "", location.href)).pathname);
  ace.config.set("loadWorkerFromBlob", false);
  const place = document.createElement("div");
  place.className = "ace-place";
  area.after(place);
  const editor = ace.edit(place, {
    value: area.value,
    mode: "ace/mode/python",
    useWorker: false,
    tabSize: 4,
    fontSize: 15,
    showPrintMargin: false,
    enableKeyboardAccessibility: true,
    wrap: matchMedia("(max-width: 600px)").matches,
  });
  editor.session.setUseWrapMode(matchMedia("(max-width: 600px)").matches);
  editor.textInput.getElement().setAttribute("aria-label", "Your bot, in Python");
  area.hidden = true;
  return editor;
}

function editing(/** @type {HTMLFormElement} */ form) {
  const area = /** @type {HTMLTextAreaElement} */ (form.querySelector("textarea"));
  const game = form.dataset.game ?? "";
  const draft = read(game);
  if (draft !== null && form.dataset.kept === undefined) area.value = draft;
  const shown = area.value;
  const editor = dress(area);
  const text = () => (editor ? editor.getValue() : area.value);
  const keep = () => {
    const changed = text() !== shown;
    area.value = text();
    if (write(game, area.value) && changed) leaveTrial();
  };
  if (editor) editor.session.on("change", keep);
  else area.addEventListener("input", keep);
  form.addEventListener("submit", keep);
  const reset = /** @type {HTMLButtonElement} */ (form.querySelector("[data-reset]"));
  reset.hidden = false;
  reset.addEventListener("click", () => {
    const first = /** @type {HTMLTemplateElement} */ (document.getElementById("starter"));
    const starter = first.content.textContent ?? "";
    if (editor) editor.setValue(starter, -1);
    else area.value = starter;
    keep();
  });
  form.querySelector("a.button")?.addEventListener("click", keep);
}

/** The form of an upload takes the last draft if it came without a file. */
function uploading(/** @type {HTMLFormElement} */ form) {
  const area = /** @type {HTMLTextAreaElement} */ (form.querySelector("textarea"));
  const draft = read(read("last") ?? "twelve-days");
  if (!area.value.trim() && draft) area.value = draft;
}

const form = /** @type {HTMLFormElement|null} */ (document.querySelector("form.write"));
if (form) editing(form);
const upload = /** @type {HTMLFormElement|null} */ (document.querySelector("form[data-draft]"));
if (upload) uploading(upload);

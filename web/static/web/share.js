// Buttons of a page for its reader: share its address, print it, fill the screen, and open the code to embed it.

/** @type {HTMLElement|null} */
const share = document.querySelector("[data-share]");
/** @type {HTMLElement|null} */
const printing = document.querySelector("[data-print]");
const embed = document.querySelector("[data-embed]");

const canShare = "share" in navigator;

if (share && (canShare || navigator.clipboard)) {
  share.hidden = false;
  if (!canShare) share.textContent = "Copy link";
  share.addEventListener("click", async () => {
    const url = /** @type {HTMLLinkElement|null} */ (document.querySelector("link[rel=canonical]"))?.href ?? location.href;
    try {
      if (canShare) return await navigator.share({ title: document.title, url });
      await navigator.clipboard.writeText(url);
      share.textContent = "Link copied";
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return; // the reader closed the dialogue
      share.textContent = "Copy the address of this page";
    }
    setTimeout(() => { share.textContent = canShare ? "Share" : "Copy link"; }, 2500);
  });
}
/** @type {HTMLElement|null} */
const fullPage = document.querySelector("[data-full-page]");
if (fullPage && document.fullscreenEnabled) {
  fullPage.hidden = false;
  fullPage.addEventListener("click", () => document.documentElement.requestFullscreen());
}
if (printing) {
  printing.hidden = false;
  printing.addEventListener("click", () => window.print());
}
embed?.addEventListener("click", () => {
  const code = document.getElementById("embed");
  if (code instanceof HTMLDetailsElement) code.open = true;
});

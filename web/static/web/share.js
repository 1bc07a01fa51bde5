// Buttons of a page for its reader: share its address, print it, fill the screen, and open the code to embed it.

const share = document.querySelector("[data-share]");
const print = document.querySelector("[data-print]");
const embed = document.querySelector("[data-embed]");

if (share && (navigator.share || navigator.clipboard)) {
  share.hidden = false;
  if (!navigator.share) share.textContent = "Copy link";
  share.addEventListener("click", async () => {
    const url = document.querySelector("link[rel=canonical]")?.href ?? location.href;
    try {
      if (navigator.share) return await navigator.share({ title: document.title, url });
      await navigator.clipboard.writeText(url);
      share.textContent = "Link copied";
    } catch (error) {
      if (error.name === "AbortError") return; // the reader closed the dialogue
      share.textContent = "Copy the address of this page";
    }
    setTimeout(() => { share.textContent = navigator.share ? "Share" : "Copy link"; }, 2500);
  });
}
const fullPage = document.querySelector("[data-full-page]");
if (fullPage && document.fullscreenEnabled) {
  fullPage.hidden = false;
  fullPage.addEventListener("click", () => document.documentElement.requestFullscreen());
}
if (print) {
  print.hidden = false;
  print.addEventListener("click", () => window.print());
}
embed?.addEventListener("click", () => {
  const code = document.getElementById("embed");
  if (code) code.open = true;
});

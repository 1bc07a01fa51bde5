// Buttons that copy a text of the page, such as a token. Without a clipboard they stay hidden.

for (const button of document.querySelectorAll("button[data-copies]")) {
  if (!(button instanceof HTMLButtonElement) || !navigator.clipboard) continue;
  const label = button.textContent ?? "";
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copies ?? "")?.textContent ?? "";
    button.textContent = await navigator.clipboard.writeText(text).then(
      () => "Copied",
      () => "Select the text and copy it", // the browser forbids it
    );
    setTimeout(() => { button.textContent = label; }, 2500);
  });
}

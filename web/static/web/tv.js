// Shows the wall on the whole screen, for a projector. Without JavaScript there is no button.

const button = document.querySelector("[data-full-screen]");
const wall = document.getElementById(button.dataset.fullScreen);

if (document.fullscreenEnabled) {
  button.hidden = false;
  button.addEventListener("click", () => wall.requestFullscreen());
}

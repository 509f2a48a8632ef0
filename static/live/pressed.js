// A click is one only where it began: while something is pressed, what would change the page waits.

let isPressed = false;
/** The latest change of each part. */
const waiting = new Map();

function release() {
  isPressed = false;
  const changes = [...waiting.values()];
  waiting.clear();
  for (const change of changes) change();
}

document.addEventListener("pointerdown", ({ button }) => (isPressed = button === 0), { capture: true });
// The click follows at once, before the timer.
for (const type of ["pointerup", "pointercancel", "contextmenu", "dragend"])
  document.addEventListener(type, () => isPressed && setTimeout(release), { capture: true });
// Let go outside of the window.
document.addEventListener("pointermove", ({ buttons }) => isPressed && !buttons && release(), {
  capture: true,
});
window.addEventListener("blur", release);

/** Changes a part, at once or when nothing is pressed any more. */
export function whenReleased(part, change) {
  if (isPressed) waiting.set(part, change);
  else change();
}

// Runs before the first paint, so that neither the theme nor the panes jump. A classic script:
// modules are deferred.
(() => {
  const root = document.documentElement;
  const read = (key) => {
    try {
      return localStorage.getItem(`playground.${key}`);
    } catch {
      return null; // storage is switched off: the defaults will do
    }
  };
  const theme = read("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  if (read("sidebar") === "closed") root.dataset.sidebar = "closed";
  if (read("composer") === "hidden") root.dataset.composer = "hidden";
  const folded = ["collections", "agents", "history"].filter((name) => read(`fold.${name}`) === "closed");
  if (folded.length) root.dataset.folded = folded.join(" ");
  for (const size of ["sidebar", "compose"]) {
    const width = Number(read(`size.${size}`));
    if (width > 0) root.style.setProperty(`--${size}-width`, `${width}px`);
  }
})();

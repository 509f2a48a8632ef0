// Small helpers for building elements. Text goes in as text, never as markup.

/** An element with properties, `data`/`aria` attributes and children. */
export function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in element && !name.startsWith("aria")) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** An icon of the page's sprite. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const use = document.createElementNS(space, "use");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** A button that shows only an icon; `label` is its name and tooltip. */
export function iconButton(name, label, action) {
  const button = make(
    "button",
    { type: "button", className: "icon-button icon-button--small", title: label, "aria-label": label },
    icon(name),
  );
  button.addEventListener("click", action);
  return button;
}

/** A text field that grows with its content; `options` are {id, describedBy, placeholder}. */
export function textBox({ id, describedBy, placeholder = "" }, props = {}) {
  const area = make("textarea", {
    id,
    rows: 1,
    className: "input input-grow",
    spellcheck: false,
    placeholder,
    ...props,
  });
  if (describedBy) area.setAttribute("aria-describedby", describedBy);
  return area;
}

/** Puts a popover below the button that opens it, or above it where there is more room. */
export function placeMenu(menu, button) {
  const { left, top, bottom } = button.getBoundingClientRect();
  const { offsetHeight: height, offsetWidth: width, style } = menu;
  const isBelow = bottom + height + 8 <= innerHeight || top < innerHeight - bottom;
  style.insetInlineStart = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  style.insetBlockStart = `${isBelow ? bottom + 4 : Math.max(8, top - height - 4)}px`;
}

let serial = 0;

/** An id that no other element has. */
export function freshId(prefix) {
  serial += 1;
  return `${prefix}-${serial}`;
}

/** Says something to screen readers without moving anything. */
export function announce(text) {
  const region = document.getElementById("announce");
  if (region) region.textContent = text.trim().replace(/\s+/g, " ");
}

/** Adds a style sheet to the page, once. Resolves when it is loaded, or has failed: then the next call tries again. */
export function addStyleSheet(href) {
  if (document.querySelector(`link[href="${CSS.escape(href)}"]`)) return Promise.resolve();
  return new Promise((resolve) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
    link.onload = resolve;
    link.onerror = () => {
      link.remove();
      resolve();
    };
    document.head.append(link);
  });
}

// The only way this page makes DOM nodes. Text always becomes a text node and attributes are always set by name,
// so nothing a person or an app writes is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** Creates `<tag>`. `props`: attributes; `class`; `dataset` (object); `on…` functions; `true` sets an empty attribute; null/undefined/false skips it. */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

/** Appends strings (as text), nodes and nested arrays of them; skips null, undefined and false. */
export function append(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** A document fragment of `children`. */
export function fragment(...children) {
  return append(document.createDocumentFragment(), children);
}

// Each icon is drawn on a 20 × 20 grid with a round 1.6 pen.
const ICONS = {
  menu: "M3 5h14M3 10h14M3 15h14",
  hash: "M8 3 6.500 17M13.500 3 12 17M3.500 7.500h13.500M3 12.500h13.500",
  lock: "M5 9h10v8H5zM7 9V6.500a3 3 0 0 1 6 0V9",
  close: "M5 5l10 10M15 5 5 15",
  reply: "M4 4h12v9H9l-4 3.500V13H4z",
  smile: "M10 2.500a7.500 7.500 0 1 0 0 15a7.500 7.500 0 1 0 0-15M7.200 8h.01M12.800 8h.01M6.800 11.800c1.700 2.300 4.700 2.300 6.400 0",
  edit: "M4 16l.8-3.500L13.500 4 16 6.500 7.500 15.200zM11.500 6l2.500 2.500",
  trash: "M4 6h12M8 6V4h4v2M5.500 6l.8 10.500h7.400L14.500 6M8.500 9v4.500M11.500 9v4.500",
  send: "M3.500 10 16.500 4l-4 12.500-3-5zM9.500 11.500 16 4.500",
  clip: "M14.500 8.500l-5.300 5.300a2.100 2.100 0 0 1-3-3l6-6a3.300 3.300 0 0 1 4.700 4.700l-6.300 6.300a4.500 4.500 0 0 1-6.400-6.400L9 4.600",
  at: "M10 6.800a3.200 3.200 0 1 0 0 6.400a3.200 3.200 0 1 0 0-6.400M13.200 7v4.200a2 2 0 0 0 4 0V10a7.200 7.200 0 1 0-2.800 5.700",
  plus: "M10 4v12M4 10h12",
  eye: "M2.500 10s2.700-5 7.500-5 7.500 5 7.500 5-2.700 5-7.500 5-7.500-5-7.500-5M10 8a2 2 0 1 0 0 4a2 2 0 1 0 0-4",
  sun: "M10 6.500a3.500 3.500 0 1 0 0 7a3.500 3.500 0 1 0 0-7M10 2v1.500M10 16.500V18M2 10h1.500M16.500 10H18M4.300 4.300l1 1M14.700 14.700l1 1M4.300 15.700l1-1M14.700 5.300l1-1",
  moon: "M16.500 12A7 7 0 0 1 8 3.500a7 7 0 1 0 8.500 8.500z",
  auto: "M10 2.500a7.500 7.500 0 1 0 0 15a7.500 7.500 0 1 0 0-15M10 2.500v15M13 4v12M11.500 3v14",
  stop: "M6 6h8v8H6z",
  search: "M9 3.500a5.500 5.500 0 1 0 0 11a5.500 5.500 0 1 0 0-11M13 13l4 4",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  down: "M10 4v11M5.500 10.500 10 15l4.500-4.500",
  back: "M12.500 4.500 7 10l5.500 5.500",
  file: "M5 2.500h6.500L15 6v11.500H5zM11.500 2.500V6H15",
  image: "M3 4h14v12H3zM3 13.500l4-4 3.500 3.500 2.500-2.500 4 4M12.500 7.500h.01",
  spark: "M10 2.500l1.800 5.700 5.700 1.800-5.700 1.800L10 17.500l-1.800-5.700L2.500 10l5.700-1.800z",
  check: "M4 10.500l4 4 8-9",
  up: "M7 9v8H4V9zM7 9.500 10 3a2 2 0 0 1 2 2v3h3.500a1.500 1.500 0 0 1 1.500 1.800l-1 5.700a1.800 1.800 0 0 1-1.800 1.500H7",
  thumbdown: "M7 11V3H4v8zM7 10.500 10 17a2 2 0 0 0 2-2v-3h3.500a1.500 1.500 0 0 0 1.500-1.800l-1-5.700A1.800 1.800 0 0 0 14.200 3H7",
  warn: "M10 3 18 16.500H2zM10 8v4M10 14.200h.01",
  info: "M10 2.500a7.500 7.500 0 1 0 0 15a7.500 7.500 0 1 0 0-15M10 9v4.500M10 6.500h.01",
};

/** An icon as inline SVG, hidden from assistive technology (give its button an aria-label). */
export function icon(name, extra = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", `icon icon-${name} ${extra}`.trim());
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name] ?? ICONS.info);
  svg.append(path);
  return svg;
}

/** A button that shows only an icon; `label` is its accessible name and tooltip. */
export function iconButton(name, label, onclick, props = {}) {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...props }, icon(name));
}

/** Remembers which control had the focus (by `data-focus-key`) while `rebuild` replaces nodes below `root`, and gives the focus back. */
export function keepFocus(root, rebuild) {
  const active = document.activeElement;
  const key = active && root.contains(active) ? active.dataset.focusKey : undefined;
  const caret = key && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  rebuild();
  if (!key || root.contains(document.activeElement)) return;
  const again = root.querySelector(`[data-focus-key="${CSS.escape(key)}"]`);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (caret && caret[0] !== null && typeof again.setSelectionRange === "function") again.setSelectionRange(caret[0], caret[1]);
}

/** Runs `job` once at the next frame however often the returned function is called before it; also runs when the tab is hidden. */
export function batched(job) {
  let waiting = false;
  const run = () => {
    if (!waiting) return;
    waiting = false;
    job();
  };
  return () => {
    if (waiting) return;
    waiting = true;
    if (document.visibilityState === "visible") requestAnimationFrame(run);
    setTimeout(run, 120);
  };
}

/** Keeps Tab inside an open dialog: after its last control comes its first. */
export function trapFocus(dialog) {
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Tab") return;
    const nodes = [...dialog.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter(
      (node) => !node.disabled && node.checkVisibility(),
    );
    const edge = event.shiftKey ? nodes[0] : nodes.at(-1);
    if (document.activeElement !== edge) return;
    event.preventDefault();
    (event.shiftKey ? nodes.at(-1) : nodes[0]).focus();
  });
}

/** True while an input method is composing: such an Enter chooses a candidate and must not send anything. */
export function isComposing(event) {
  return event.isComposing || event.keyCode === 229;
}

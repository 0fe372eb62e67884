// Building blocks that the components share.  All text goes through textContent: text from a log is never markup.

const SVG = "http://www.w3.org/2000/svg";

export function el(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

export function drawn(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function tile(name, label = name, className = "") {
  const use = drawn("use", { href: `#kwx-${name}` });
  const title = drawn("title", {});
  title.textContent = label;
  return drawn("svg", { viewBox: "0 0 30 42", class: `tile ${className}`, role: "img", "aria-label": label }, use, title);
}

export function sprite(drawings) {
  const svg = drawn("svg", { class: "sprite", "aria-hidden": "true" });
  svg.innerHTML = Object.entries(drawings) // our own drawings: no text from a log gets here
    .map(([name, inside]) => `<symbol id="kwx-${name}" viewBox="0 0 30 42">${inside}</symbol>`)
    .join("");
  return svg;
}

export function button(label, name, act, className = "") {
  const node = el("button", className, label);
  node.type = "button";
  node.title = name;
  node.setAttribute("aria-label", name);
  node.addEventListener("click", act);
  return node;
}

export const badge = (seat) => el("span", `badge seat${seat}`, String(seat));
export const tone = (points) => (points > 0 ? "gain" : points < 0 ? "loss" : "");

// A number with its sign; "–" for none.
export function signed(points, digits = 0) {
  if (points === null || points === undefined) return "–";
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const text = Math.abs(points).toLocaleString("en", format);
  return Number(text.replaceAll(",", "")) === 0 ? text : (points > 0 ? "+" : "−") + text;
}

export const money = (points) => el("span", `num ${tone(points)}`, signed(points));

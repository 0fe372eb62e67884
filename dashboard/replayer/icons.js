// The drawings on the viewer's buttons.

import { drawn } from "../elements.js";

const PATHS = {
  first: "M4 3v10M13 3L6 8l7 5z",
  back: "M11 3L4 8l7 5z",
  next: "M5 3l7 5-7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
  play: "M3 8a5 5 0 1 1 10 0a5 5 0 1 1-10 0M7 6l3.2 2-3.2 2z",
  stop: "M5 3v10M11 3v10",
  link: "M7 9a3 3 0 0 0 4 0l2-2a3 3 0 0 0-4-4L8 4M9 7a3 3 0 0 0-4 0L3 9a3 3 0 0 0 4 4l1-1",
  save: "M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10",
};
const SOLID = ["first", "back", "next", "last"];

export function icon(name) {
  const className = `icon ${SOLID.includes(name) ? "solid" : ""}`;
  return drawn("svg", { viewBox: "0 0 16 16", class: className, "aria-hidden": "true" }, drawn("path", { d: PATHS[name] }));
}

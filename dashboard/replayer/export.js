// What can be taken along: the link to a step, the round as a line of a log and as text, the table as a picture.

import { drawn, signed } from "../elements.js";

const WIDE = 30; // of a tile in the drawings' units
const TALL = 42;
const PAGE = 820; // of the picture
const INK = "#1f2430";

export function link(state) {
  const url = new URL(window.location.href);
  const { no } = state.frame;
  if (no === null) url.searchParams.delete("event");
  else url.searchParams.set("event", no);
  return url;
}

export function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function ways(state) {
  const { text, file, line, lines } = state.data;
  const step = state.frame.no === null ? "0" : state.frame.no;
  return [
    line && [text.save_line, () => save(`${file}.jsonl`, "application/jsonl", `${line}\n`)],
    [text.save_text, () => save(`${file}.txt`, "text/plain", lines)],
    [text.save_svg, () => save(`${file}-${step}.svg`, "image/svg+xml", picture(state))],
  ].filter(Boolean);
}

// The table as it is seen now, as one SVG document that needs nothing else.
export function picture(state) {
  const body = drawn("g", {});
  let y = 16;
  body.append(words(16, (y += 14), state.data.title, 15, "bold"));
  body.append(words(16, (y += 22), said(state), 13));
  for (const seat of [(state.pov + 1) % 3, (state.pov + 2) % 3, state.pov]) y = drawSeat(state, body, seat, y + 26);
  const size = { width: PAGE, height: y + 16, viewBox: `0 0 ${PAGE} ${y + 16}` };
  const symbols = Object.entries(state.data.tiles).map(([name, inside]) => {
    const symbol = drawn("symbol", { id: `kwx-${name}`, viewBox: `0 0 ${WIDE} ${TALL}` });
    symbol.innerHTML = inside; // our own drawings
    return symbol;
  });
  const paper = drawn("rect", { width: "100%", height: "100%", fill: "#ffffff" });
  return new XMLSerializer().serializeToString(drawn("svg", size, drawn("defs", {}, ...symbols), paper, body));
}

function said(state) {
  const { frame, data } = state;
  if (frame.verb === null) return data.text.dealt;
  const hidden = "dr".includes(frame.verb) && !state.open(frame.seat);
  const parts = [`#${frame.no}`, frame.seat, data.text.verb[frame.verb], hidden ? "" : (data.text.tile[frame.tile] ?? ""), frame.source === null ? "" : `← ${frame.source}`];
  return parts.filter((part) => part !== "" && part !== null).join("  ");
}

function words(x, y, content, size, weight = "normal") {
  const node = drawn("text", { x, y, "font-size": size, "font-weight": weight, "font-family": "system-ui, sans-serif", fill: INK });
  node.textContent = content;
  return node;
}

function put(body, name, x, y, scale, more = {}) {
  body.append(drawn("use", { href: `#kwx-${name}`, x, y, width: WIDE * scale, height: TALL * scale, ...more }));
  return x + WIDE * scale + 1;
}

function drawSeat(state, body, seat, top) {
  const { data, frame } = state;
  const held = frame.seats[seat];
  const marks = [seat === data.dealer && data.text.dealer, held.revealed && data.text.revealed].filter(Boolean).map((one) => ` · ${one}`);
  body.append(words(16, top, `${seat}  ${data.players[seat]}${marks.join("")}  ${signed(frame.money[seat])}`, 13, "bold"));
  const down = Object.fromEntries(held.hidden.map((name) => [name, 3]));
  const seen = (name) => (state.open(seat) || (held.revealed && !(down[name]-- > 0)) ? name : "back");
  let x = 16;
  for (const name of held.hand) x = put(body, seen(name), x, top + 8, 0.9);
  if (held.drawn) x = put(body, seen(held.drawn), x + 8, top + 8, 0.9);
  for (const meld of held.melds) {
    const count = meld.kind === "pung" ? 3 : 4;
    x += 12;
    for (let i = 0; i < count; i += 1) x = put(body, meld.kind === "concealed" && i % 3 === 0 ? "back" : meld.tile, x, top + 8, 0.75);
  }
  const rows = Math.ceil(held.river.length / 6);
  held.river.forEach((one, i) => {
    put(body, one.tile, 16 + (i % 6) * 24, top + 54 + Math.floor(i / 6) * 33, 0.75, one.taken !== null ? { opacity: 0.3 } : {});
  });
  return top + 52 + rows * 33;
}

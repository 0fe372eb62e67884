// The table: three seats with hand, melds and river, and the wall.

import { badge, el, money, tile } from "../elements.js";
import { luckChip, marked, shantenChip, waitsOf } from "./overlays.js";

export function drawTable(state, rows) {
  const [left, right] = [(state.pov + 2) % 3, (state.pov + 1) % 3];
  return [panel(state, left, rows, ""), panel(state, right, rows, ""), wall(state), panel(state, state.pov, rows, "own")];
}

export function player(state, seat) {
  const name = el("bdi", "player", state.data.players[seat]);
  name.title = state.data.players[seat];
  return name;
}

function panel(state, seat, rows, className) {
  const { data, frame } = state;
  const { text } = data;
  const held = frame.seats[seat];
  const head = el("header", "", badge(seat), player(state, seat));
  if (seat === data.dealer) head.append(el("span", "chip dealer", text.dealer));
  if (held.revealed) head.append(el("span", "chip revealed", text.revealed));
  head.append(shantenChip(state, seat), waitsOf(state, seat), el("span", "grow"), luckChip(state, seat), money(frame.money[seat]));
  const acting = frame.seat === seat ? "acting" : "";
  const node = el("section", `panel ${className} ${acting} edge${seat}`, head, el("div", "tiles", hand(state, seat), melds(state, seat)), river(state, seat, rows[seat]));
  node.setAttribute("aria-label", `${text.seat} ${seat}`);
  return node;
}

// Concealed tiles sorted, the drawn one apart; of a revealed hand the triplets that it keeps face down stay so to others.
function hand(state, seat) {
  const held = state.frame.seats[seat];
  const label = state.data.text.tile;
  const down = Object.fromEntries(held.hidden.map((name) => [name, 3]));
  const show = (name, className = "") => {
    const kept = down[name] > 0;
    if (kept) down[name] -= 1;
    const seen = state.open(seat) || (held.revealed && !kept);
    const drawn = seen ? name : "back";
    return marked(state, seat, drawn, tile(drawn, label[drawn], `${kept ? "facedown" : ""} ${className}`));
  };
  const tiles = held.hand.map((name) => show(name));
  if (held.drawn) tiles.push(show(held.drawn, "drawn"));
  return el("div", "hand", ...tiles);
}

function melds(state, seat) {
  return el("div", "melds", ...state.frame.seats[seat].melds.map((meld) => drawMeld(state, meld, seat)));
}

// The claimed tile lies across, on the side it came from; a kong that was added lies across two deep.
function drawMeld(state, meld, seat) {
  const { text } = state.data;
  const count = meld.kind === "exposed" || meld.kind === "concealed" ? 4 : 3;
  const source = meld.from === null ? -1 : (meld.from - seat + 3) % 3; // 1: the next seat, 2: the one before
  const side = source === 2 ? 0 : source === 1 ? count - 1 : -1;
  const tiles = Array.from({ length: count }, (_, i) => {
    if (meld.kind === "concealed" && (i === 0 || i === 3)) return tile("back", text.tile.back);
    if (i !== side) return tile(meld.tile, text.tile[meld.tile]);
    const across = el("span", "across", tile(meld.tile, text.tile[meld.tile], "tilted"));
    if (meld.kind === "added") across.prepend(tile(meld.tile, text.tile[meld.tile], "tilted"));
    return across;
  });
  if (meld.kind === "added" && side < 0) tiles.push(tile(meld.tile, text.tile[meld.tile]));
  const group = el("span", `meld ${meld.robbed ? "robbed" : ""}`, ...tiles);
  if (meld.from !== null) group.append(badge(meld.from));
  group.title = text.meld[meld.kind] + (meld.from === null ? "" : ` ← ${meld.from}`) + (meld.robbed ? ` – ${text.robbed}` : "");
  return group;
}

// Rows of six; what was drawn and put down at once is shaded, what was claimed a ghost.
function river(state, seat, rows) {
  const { frame } = state;
  const discards = frame.seats[seat].river;
  const latest = frame.seat === seat && "xy".includes(frame.verb ?? "-") ? discards.length - 1 : -1;
  const node = el("div", "river", ...discards.map((one, i) => discard(state, one, i === latest)));
  node.style.setProperty("--rows", rows);
  return node;
}

function discard(state, one, latest) {
  const { text } = state.data;
  const marks = [one.drawn && "drawnout", one.taken !== null && "taken", latest && "latest", one.reveal && "declares"];
  const cell = el("span", ["d", ...marks.filter(Boolean)].join(" "), tile(one.tile, text.tile[one.tile]));
  if (one.taken !== null) cell.append(badge(one.taken));
  const told = [text.tile[one.tile], one.drawn ? text.drawnout : text.fromhand, one.reveal ? text.declares : "", one.taken !== null ? `→ ${one.taken}` : ""];
  cell.title = told.filter(Boolean).join(" · ");
  return cell;
}

// A bar of what is left, or every tile in draw order where the log has the wall.
function wall(state) {
  const { data, frame } = state;
  const label = el("span", "quiet", `${data.text.wall} `, el("b", "num", String(frame.wall_left)));
  if (!data.wall) {
    const bar = el("div", "wallbar");
    bar.style.setProperty("--left", frame.wall_left / 44);
    return el("section", "wall", label, bar);
  }
  const gone = new Set(frame.gone);
  const tiles = data.wall.map((name, i) => {
    const shown = state.hide && !gone.has(i) ? "back" : name;
    return tile(shown, data.text.tile[shown], gone.has(i) ? "gone" : i === frame.next ? "coming" : "");
  });
  return el("section", "wall", label, el("div", "walltiles", ...tiles));
}

// What is laid over the table: shanten, waits, useful tiles of each discard, danger, draw luck.

import { el, signed, tile, tone } from "../elements.js";

// Tiles with their live copies behind them.
export function counted(state, pairs) {
  return pairs.map(([name, live]) => el("span", `counted ${live === 0 ? "dead" : ""}`, tile(name, state.data.text.tile[name], "mini"), el("span", "live", `×${live}`)));
}

export const sum = (pairs) => pairs.reduce((total, [, live]) => total + live, 0);

export function distance(state, shanten) {
  const { text } = state.data;
  return shanten < 0 ? text.won : shanten === 0 ? text.ready : text.away.replace("{n}", shanten);
}

export function shantenChip(state, seat) {
  const held = state.frame.seats[seat];
  if (!state.overlays.has("shanten") || held.shanten === null || !(state.open(seat) || held.revealed)) return "";
  return el("span", `chip away ${held.shanten <= 0 ? "ready" : ""}`, distance(state, held.shanten));
}

// What a ready hand waits for: of a revealed one everybody sees it.
export function waitsOf(state, seat) {
  const held = state.frame.seats[seat];
  if (!held.waits.length || !(state.open(seat) || held.revealed)) return "";
  const pairs = held.waits.map((wait) => [wait.tile, wait.live]);
  return el("span", "waits", el("span", "quiet", state.data.text.waits), ...counted(state, pairs));
}

export function luckChip(state, seat) {
  const { luck, luck_sd: sd } = state.frame.seats[seat];
  if (!state.overlays.has("luck") || luck === null) return "";
  const chip = el("span", `chip luck ${tone(luck)}`, `${state.data.text.luck} ${signed(luck, 1)} ± ${sd.toFixed(1)}`);
  chip.title = state.data.text.luck_more;
  return chip;
}

// The seats that lie open and wait for a tile.
export function waiting(state, seat, name) {
  return [0, 1, 2].filter((other) => {
    const held = state.frame.seats[other];
    return other !== seat && held.revealed && held.waits.some((wait) => wait.tile === name);
  });
}

// A tile of the hand with what its discard would leave, and who waits for it.
export function marked(state, seat, name, drawing) {
  if (seat !== state.pov || name === "back") return drawing;
  const held = state.frame.seats[seat];
  const after = state.overlays.has("useful") ? held.discards?.[name] : null;
  const danger = state.overlays.has("danger") ? waiting(state, seat, name) : [];
  const cell = el("span", `held ${drawing.classList.contains("drawn") ? "apart" : ""} ${danger.length ? "danger" : ""}`, drawing);
  if (after) {
    const live = sum(after.useful);
    const best = after.shanten === least(held) && live === most(held);
    const mark = el("span", `under ${best ? "best" : ""} ${after.shanten > least(held) ? "further" : ""}`, after.shanten > least(held) ? "·" : String(live));
    mark.title = `${distance(state, after.shanten)} · ${state.data.text.useful} ${live}`;
    cell.append(mark);
  }
  if (danger.length) {
    const flag = el("span", "flagged", "!");
    flag.title = `${state.data.text.danger}: ${danger.join(", ")}`;
    cell.append(flag);
  }
  return cell;
}

const least = (held) => Math.min(...Object.values(held.discards).map((one) => one.shanten));

function most(held) {
  const near = Object.values(held.discards).filter((one) => one.shanten === least(held));
  return Math.max(...near.map((one) => sum(one.useful)));
}

// One line for each tile that could be discarded, the nearest to ready first.
export function discardRows(state) {
  const held = state.frame.seats[state.pov];
  const rows = Object.entries(held.discards).sort(([, a], [, b]) => a.shanten - b.shanten || sum(b.useful) - sum(a.useful));
  const next = state.frames[state.at + 1];
  const played = next && next.seat === state.pov && "xy".includes(next.verb ?? "-") ? next.tile : null;
  return rows.map(([name, after]) => ({
    name,
    shanten: after.shanten,
    useful: after.useful,
    danger: waiting(state, state.pov, name),
    played: name === played,
  }));
}

// The draw just made: what helped, of what was left.
export function chanceChip(state) {
  const { chance, hit } = state.frame;
  if (!state.overlays.has("luck") || chance === undefined) return "";
  const node = el("span", `chip ${hit ? "gain" : ""}`, `${hit ? "✓" : "✗"} ${(100 * chance).toFixed(0)} %`);
  node.title = state.data.text.chance_more;
  return node;
}


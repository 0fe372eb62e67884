// What the seat could do here: each option's useful tiles and danger, and, once they are played out, its value.

import { badge, button, el, signed, tile } from "../elements.js";
import { counted, discardRows, distance, sum } from "./overlays.js";

const FEW = 5; // options shown at once

export function optionsPanel(state, ask) {
  const { text } = state.data;
  const found = state.decision(state.pov, state.at);
  const held = state.frame.seats[state.pov];
  const nodes = [el("h4", "", `${text.options} `, badge(state.pov))];
  if (found) nodes.push(...reviewed(state, found));
  else if (held.discards) nodes.push(...folded(state, discardRows(state).map((row) => discardRow(state, row))));
  else if (held.waits.length) nodes.push(el("div", "facts", el("span", "quiet", text.waits), ...counted(state, held.waits.map((wait) => [wait.tile, wait.live]))));
  else if (held.useful?.length) nodes.push(el("div", "facts", el("span", "quiet", `${text.useful} ${sum(held.useful)}`), ...counted(state, held.useful)));
  else nodes.push(el("p", "quiet", text.nochoice));
  nodes.push(...request(state, ask));
  return nodes;
}

// The first few rows, the others to unfold.
function folded(state, rows) {
  const first = el("div", "rows", ...rows.slice(0, FEW));
  if (rows.length <= FEW) return [first];
  const rest = el("details", "", el("summary", "quiet", state.data.text.more.replace("{n}", rows.length - FEW)), el("div", "rows", ...rows.slice(FEW)));
  return [first, rest];
}

function dangerChip(state, seats) {
  return seats.length ? el("span", "chip danger", `! ${state.data.text.danger} `, ...seats.map((seat) => badge(seat))) : "";
}

function discardRow(state, row) {
  const { text } = state.data;
  return el("div", `option ${row.played ? "played" : ""}`,
    el("div", "what", tile(row.name, text.tile[row.name], "mini"), el("span", "", distance(state, row.shanten)), el("b", "num", String(sum(row.useful))), row.played ? el("span", "chip", text.played) : "", dangerChip(state, row.danger)),
    el("div", "facts", ...counted(state, row.useful)));
}

function reviewed(state, found) {
  const { text } = state.data;
  const order = found.options.map((option, at) => [option, at]).sort(([a], [b]) => (b.value ?? -Infinity) - (a.value ?? -Infinity));
  const [highest] = order[0];
  const said = [el("span", found.flagged ? "loss" : "", text.loss.replace("{loss}", found.loss.toFixed(2)).replace("{error}", found.loss_error.toFixed(2)).replace("{n}", found.n.toLocaleString("en")))];
  if (found.flagged) said.push(el("span", "chip danger", text.clearly));
  said.push(...found.notes.map((note) => el("span", "chip", text.note[note])));
  return [el("div", "facts", ...said), ...folded(state, order.map(([option, at]) => valuedRow(state, option, highest, at === found.played, at === found.best)))];
}

function action(state, option) {
  const { text } = state.data;
  const parts = option.reveal ? [text.action.reveal] : [];
  const node = el("span", "action", [...parts, text.action[option.action]].join(" + "));
  if (option.tile) node.append(" ", tile(option.tile, text.tile[option.tile], "mini"));
  if (option.hidden.length) node.append(el("span", "quiet", ` ${text.keeps} `), ...option.hidden.map((name) => tile(name, text.tile[name], "mini facedown")));
  return node;
}

// Within error: no more below the highest value than the standard error of that difference.
const near = (option, highest) => option.value !== null && highest.value - option.value <= Math.hypot(option.error, highest.error);

function valuedRow(state, option, highest, played, compared) {
  const { text } = state.data;
  const marks = [near(option, highest) && el("span", "chip best", text.near), compared && el("span", "chip", text.compared), played && el("span", "chip", text.played)];
  const value = option.value === null ? "" : el("span", "value", el("b", "num", signed(option.value, 2)), el("span", "quiet", ` ± ${option.error.toFixed(2)}`));
  if (value) value.title = `n ${option.n.toLocaleString("en")}`;
  const pairs = option.waits.length ? option.waits : option.useful;
  const what = option.waits.length ? text.waits : text.useful;
  return el("div", `option ${played ? "played" : ""}`,
    el("div", "what", action(state, option), ...marks.filter(Boolean), dangerChip(state, option.danger), el("span", "grow"), value),
    el("div", "facts", el("span", "quiet", distance(state, option.shanten)), pairs.length ? el("span", "quiet", `${what} ${sum(pairs)}`) : "", ...counted(state, pairs)));
}

// The button that has a seat's decisions played out, how far that is, and what the values mean.
function request(state, ask) {
  const { text, review } = state.data;
  const now = review[state.pov];
  const name = text.review_ask.replace("{seat}", state.pov);
  if (!now) return [button(name, name, () => ask(`start ${state.pov}`), "wide"), el("p", "quiet policy", text.policy)];
  if (now.state === "failed") return [el("p", "quiet", el("bdi", "", now.error))];
  if (now.state === "running") {
    const bar = el("progress");
    if (now.total) Object.assign(bar, { max: now.total, value: now.done });
    bar.setAttribute("aria-label", name);
    return [el("div", "running", bar, el("span", "quiet", now.total ? `${now.done} / ${now.total}` : text.review_begins), button(text.cancel, text.cancel, () => ask(`stop ${state.pov}`)))];
  }
  const costly = now.decisions.filter((one) => one.flagged);
  const links = costly.map((one) => button(`#${one.no}`, `#${one.no}`, () => state.go(one.event), "jump"));
  const told = text.review_done.replace("{n}", now.decisions.length).replace("{k}", costly.length);
  const again = now.state === "cancelled" ? [button(name, name, () => ask(`start ${state.pov}`), "wide")] : [];
  return [el("p", "quiet", told), el("div", "facts", ...links), ...again, el("p", "quiet policy", text.policy)];
}

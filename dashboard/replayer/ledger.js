// What was paid up to here, line by line, the wins, and the problems where they happened.

import { badge, el, money, tile } from "../elements.js";

export function problemCards(state) {
  const { problems, text } = state.data;
  if (!problems.length) return [];
  return [el("h4", "", text.problems), ...problems.map((problem) => card(state, problem))];
}

function card(state, problem) {
  const { text } = state.data;
  const node = el("button", `problem ${problem.kind} ${problem.at === state.at ? "here" : ""}`);
  node.type = "button";
  node.append(el("b", "", problem.title), el("span", "quiet", problem.at === null ? ` ${text.whole}` : ` #${problem.no}`));
  node.append(el("p", "", el("bdi", "", problem.message)));
  if (problem.logged || problem.expected)
    node.append(
      el("dl", "", el("dt", "", text.logged), el("dd", "", el("bdi", "", problem.logged || "–")), el("dt", "", text.expected), el("dd", "", el("bdi", "", problem.expected || "–"))),
    );
  for (const change of problem.explained) node.append(el("code", "", change));
  node.addEventListener("click", () => state.go(problem.at ?? state.last));
  return node;
}

export function ledgerRows(state) {
  const { data, at } = state;
  const shown = data.ledger.filter((row) => row.at <= at);
  const body = el("tbody", "", ...shown.map((row) =>
    el("tr", row.at === at ? "here" : "", el("td", "", row.title),
      el("td", "who", row.from === null ? "" : badge(row.from), "→", row.to === null ? "" : badge(row.to)), el("td", "num", String(row.points)))));
  return [
    el("h4", "", data.text.ledger),
    shown.length ? el("table", "rows", body) : el("p", "quiet", data.text.unpaid),
    totals(state),
    ...data.wins.filter((win) => win.at <= at).map((win) => drawWin(state, win)),
  ];
}

function totals(state) {
  const { data, frame } = state;
  const { text } = data;
  const line = (label, values, mark) => el("tr", "", el("th", "", label), ...values.map((value, seat) =>
    el("td", mark && mark[seat] ? "num differs" : "num", value === null ? "–" : money(value))));
  const body = el("tbody", "", line(text.sofar, frame.money));
  if (state.at === state.last && data.recorded) {
    const differs = data.recorded.map((value, seat) => value !== frame.money[seat]);
    body.append(line(text.recorded, data.recorded, differs));
    if (differs.includes(true)) body.append(line(text.difference, data.recorded.map((value, seat) => value - frame.money[seat]), differs));
  }
  const head = el("thead", "", el("tr", "", el("th", ""), ...[0, 1, 2].map((seat) => el("th", "", badge(seat)))));
  return el("table", "totals", head, body);
}

function drawWin(state, win) {
  const { text } = state.data;
  return el("div", "win", badge(win.seat), el("b", "", text.verb.w), tile(win.tile, text.tile[win.tile], "mini"), el("span", "num", `×${win.multiple}`),
    el("span", "fans", ...win.fans.map((fan) => el("span", "chip", fan))));
}

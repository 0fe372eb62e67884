// A table whose cells can hold drawn tiles, seats and chips, and whose rows open something.
// Text from logs goes through textContent: it is text, never markup.

import { badge, el, signed, sprite, tile, tone } from "../elements.js";

const NUMBERS = ["number", "points", "lines", "estimate"];
const LONG = 12; // characters of a name shown whole
const hosts = new WeakMap();

// A long account keeps both ends: numbers of one site often begin alike and differ at the end.
function short(name) {
  const letters = [...name];
  return letters.length > LONG ? [...letters.slice(0, 4), "…", ...letters.slice(-5)].join("") : name;
}

const draw = {
  text: (value) => el("bdi", "", value),
  code: (value) => el("code", "", value),
  number: (value) => (value === null ? "–" : value.toLocaleString("en")),
  points: (value) => el("span", tone(value), signed(value)),
  seat: (value) => badge(value),
  lines: (value) => el("div", "lines", ...value.map((points) => el("span", "num", points === null ? "–" : signed(points)))),
  estimate: (value) => {
    const figure = el("span", tone(value.sign ?? 0), value.value);
    return el("div", value.few ? "estimate few" : "estimate", figure, value.more ? el("div", "more", value.more) : "");
  },
  place: (value) => {
    const name = el("bdi", "place", value.label);
    name.title = value.label;
    return name;
  },
  mark: (value) =>
    el("div", "chips", el("span", `mark ${value.kind}`, value.label), ...(value.chips ?? []).map((chip) => el("span", `chip ${value.kind}`, chip))),
  chips: (value) => el("div", "chips", ...value.map((chip) => el("span", `chip ${chip.kind ?? ""}`, chip.label))),
  seats: (value) =>
    el("div", "seats", ...value.map((who) => {
      const name = el("bdi", "player", short(who.name));
      name.title = who.name;
      return el("span", "who", badge(who.seat), name, el("span", `num ${tone(who.points)}`, signed(who.points)));
    })),
  hands: (value, labels) =>
    el("div", "hands", ...value.map((hand) =>
      el("div", "hand", badge(hand.seat), ...hand.tiles.map((group) => el("span", "group", ...group.map((name) => tile(name, labels[name]))))))),
};

// A link that opens within the app, and in a tab of its own when asked to.
function anchor(content, href, act) {
  const link = el("a", "", content);
  link.href = href ?? "#";
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  return link;
}

function build(host, data, open) {
  const head = el("tr", "", ...data.columns.map((column) => {
    const cell = el("th", NUMBERS.includes(column.kind) ? "num" : "", column.label);
    cell.scope = "col";
    if (column.hint) {
      cell.classList.add("hint");
      cell.title = column.hint;
    }
    return cell;
  }));
  const body = el("tbody", "", ...data.rows.map((row) => {
    const line = el("tr", row.id !== null && row.id === data.selected ? "selected" : "");
    data.columns.forEach((column, i) => {
      const value = row.cells[i];
      const content = value === null || value === undefined || column.kind === "open" ? "" : draw[column.kind](value, data.labels);
      const cell = el("td", NUMBERS.includes(column.kind) ? "num" : `c-${column.kind}`);
      if (i === 0 && row.id !== null) {
        cell.append(anchor(content, row.href, () => open(row.id)));
        if (value.more) cell.append(el("div", "more", el("bdi", "", value.more)));
      } else if (column.kind === "open" && value) {
        const link = anchor(value.label, value.href, () => open(value.id));
        link.className = "open";
        cell.append(link);
      } else cell.append(content);
      line.append(cell);
    });
    if (row.id !== null) {
      line.classList.add("opens");
      line.addEventListener("click", () => String(window.getSelection()) || open(row.id));
    }
    return line;
  }));
  const caption = el("caption", "", data.caption);
  host.replaceChildren(sprite(data.tiles), el("div", "scroll", el("table", "", caption, el("thead", "", head), body)));
}

export default function (component) {
  const root = component.parentElement;
  let host = hosts.get(root);
  if (!host) {
    host = el("div", "listing");
    root.append(host);
    hosts.set(root, host);
  }
  build(host, component.data, (id) => component.setTriggerValue("open", id));
}

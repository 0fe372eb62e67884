// The round viewer: steps through frames that Python computed once; every step happens here, in the browser.
// All text from logs goes through textContent: it is text, never markup.

const SVG = "http://www.w3.org/2000/svg";
const KEY_VERBS = "pkcalwez"; // events worth stopping at
const OWN_VERBS = "xypkcalwn"; // decisions of a seat
const instances = new WeakMap();

function el(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

function tile(view, name, className = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 30 42");
  svg.setAttribute("class", `tile ${className}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", view.text.tile[name] ?? name);
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#kwx-${name}`);
  svg.append(use);
  if (view.text.tile[name]) {
    const title = document.createElementNS(SVG, "title");
    title.textContent = view.text.tile[name];
    svg.append(title);
  }
  return svg;
}

function sprite(drawings) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "sprite");
  svg.setAttribute("aria-hidden", "true");
  svg.innerHTML = Object.entries(drawings) // our own drawings: no text from a log gets here
    .map(([name, inside]) => `<symbol id="kwx-${name}" viewBox="0 0 30 42">${inside}</symbol>`)
    .join("");
  return svg;
}

const ICONS = {
  first: "M4 3v10M13 3L6 8l7 5z", back: "M11 3L4 8l7 5z", next: "M5 3l7 5-7 5z", last: "M12 3v10M3 3l7 5-7 5z",
  play: "M3 8a5 5 0 1 1 10 0a5 5 0 1 1-10 0M7 6l3.2 2-3.2 2z", stop: "M5 3v10M11 3v10", link: "M7 9a3 3 0 0 0 4 0l2-2a3 3 0 0 0-4-4L8 4M9 7a3 3 0 0 0-4 0L3 9a3 3 0 0 0 4 4l1-1",
};

function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon ${"first back next last".includes(name) ? "solid" : ""}`);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

const badge = (seat) => el("span", `badge seat${seat}`, String(seat));
const signed = (points) => (points > 0 ? `+${points}` : points < 0 ? `−${-points}` : "0");
const money = (points) => el("span", `num ${points > 0 ? "gain" : points < 0 ? "loss" : ""}`, signed(points));

class Viewer {
  constructor(root, component) {
    this.root = root;
    this.host = el("div", "viewer");
    this.host.tabIndex = 0;
    root.append(this.host);
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
    this.update(component);
  }

  update({ data }) {
    if (this.signature !== data.signature) {
      this.signature = data.signature;
      this.data = data;
      this.text = data.text;
      this.pov = data.pov;
      this.hide = false;
      this.build();
      this.start = data.start;
      this.go(data.start);
      this.host.focus({ preventScroll: true });
    } else if (data.start !== this.start) {
      this.start = data.start;
      this.go(data.start);
    }
  }

  close() {
    document.removeEventListener("keydown", this.onKey);
    clearInterval(this.playing);
    clearTimeout(this.writing);
  }

  // ---- what stays the same while stepping ----
  build() {
    const { data, text } = this;
    this.rows = [0, 1, 2].map((seat) => Math.ceil(Math.max(...data.frames.map((f) => f.seats[seat].river.length)) / 6));
    this.controls = el("div", "controls", ...this.buttons());
    this.now = el("div", "now");
    this.now.setAttribute("aria-live", "polite");
    this.table = el("div", "table");
    this.lanes = this.buildLanes();
    this.problems = el("section", "problems");
    this.ledger = el("section", "ledger");
    this.help = el("div", "help", ...text.keys.map(([keys, what]) => el("div", "", el("kbd", "", keys), el("span", "", what))));
    this.help.hidden = true;
    this.host.replaceChildren(
      sprite(data.tiles),
      el(
        "div",
        "board",
        el("div", "left", el("div", "bar", this.controls, this.now), this.help, this.table, this.lanes),
        el("aside", "side", this.problems, this.ledger),
      ),
    );
    this.host.setAttribute("aria-label", text.title);
  }

  buttons() {
    const button = (label, name, act) => {
      const node = el("button", "", label);
      node.type = "button";
      node.title = name;
      node.setAttribute("aria-label", name);
      node.addEventListener("click", act);
      return node;
    };
    const { text } = this;
    this.count = el("span", "count");
    this.playButton = button(icon("play"), text.play, () => this.play());
    this.hideButton = button(text.hands, text.hide, () => this.toggleHands());
    return [
      button(icon("first"), text.first, () => this.go(0)),
      button(icon("back"), text.back, () => this.step(-1)),
      this.count,
      button(icon("next"), text.next, () => this.step(1)),
      button(icon("last"), text.last, () => this.go(Infinity)),
      this.playButton,
      ...[0, 1, 2].map((seat) => {
        const node = button("", `${text.view} ${seat}`, () => this.turn(seat));
        node.append(badge(seat));
        node.className = "pov";
        return node;
      }),
      this.hideButton,
      button(icon("link"), text.copy, () => this.copy()),
      button("?", text.help, () => (this.help.hidden = !this.help.hidden)),
    ];
  }

  buildLanes() {
    const { frames, problems } = this.data;
    const last = Math.max(frames.length - 1, 1);
    const lanes = el("div", "lanes");
    this.marks = [];
    for (const seat of [0, 1, 2]) {
      const lane = el("div", "lane", badge(seat));
      const track = el("div", "track");
      frames.forEach((frame, at) => {
        if (frame.seat !== seat) return;
        const mark = el("button", `mark v-${frame.verb} seat${seat}`, this.text.short[frame.verb] ?? "");
        mark.type = "button";
        mark.tabIndex = -1;
        mark.title = `${frame.no}: ${this.text.verb[frame.verb]} ${this.text.tile[frame.tile] ?? ""}`;
        mark.style.left = `${(100 * at) / last}%`;
        mark.addEventListener("click", () => this.go(at));
        track.append(mark);
        this.marks.push([at, mark]);
      });
      lane.append(track);
      lanes.append(lane);
    }
    this.flags = el("div", "track flags");
    for (const problem of problems) {
      if (problem.at === null) continue;
      const flag = el("button", `flag ${problem.kind}`, "▼");
      flag.type = "button";
      flag.title = problem.title;
      flag.style.left = `${(100 * problem.at) / last}%`;
      flag.addEventListener("click", () => this.go(problem.at));
      this.flags.append(flag);
    }
    this.cursor = el("div", "cursor");
    this.flags.append(this.cursor);
    this.slider = el("input");
    Object.assign(this.slider, { type: "range", min: 0, max: frames.length - 1, step: 1 });
    this.slider.setAttribute("aria-label", this.text.event);
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    const flags = el("div", "lane", el("span", "badge none", ""), this.flags);
    if (!problems.some((problem) => problem.at !== null)) flags.classList.add("none");
    lanes.prepend(flags);
    lanes.append(el("div", "lane", el("span", "badge none", ""), el("div", "track scrub", this.slider)));
    return lanes;
  }

  // ---- one step ----
  go(at) {
    const begun = performance.now();
    const { frames } = this.data;
    this.at = Math.max(0, Math.min(frames.length - 1, at));
    const frame = frames[this.at];
    this.count.textContent = `${this.at} / ${frames.length - 1}`;
    this.now.replaceChildren(...this.describe(frame));
    const [left, right] = [(this.pov + 2) % 3, (this.pov + 1) % 3];
    this.table.replaceChildren(this.seat(frame, left, ""), this.seat(frame, right, ""), this.wall(frame), this.seat(frame, this.pov, "own"));
    this.drawProblems();
    this.drawLedger(frame);
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", this.now.textContent);
    this.cursor.style.left = `${(100 * this.at) / Math.max(frames.length - 1, 1)}%`;
    for (const [at, mark] of this.marks) mark.classList.toggle("here", at === this.at);
    this.controls.querySelectorAll(".pov").forEach((node, seat) => node.classList.toggle("on", seat === this.pov));
    this.remember();
    this.host.dataset.event = frame.no ?? "";
    this.host.dataset.stepMs = (performance.now() - begun).toFixed(1);
  }

  describe(frame) {
    const { text } = this;
    if (frame.verb === null) return [el("b", "", text.dealt)];
    const parts = [el("span", "no", `#${frame.no}`)];
    if (frame.seat !== null) parts.push(badge(frame.seat), this.player(frame.seat));
    parts.push(el("b", "", text.verb[frame.verb]));
    if (frame.tile) parts.push(tile(this, frame.tile, "mini"));
    if (frame.source !== null) parts.push(el("span", "quiet", text.from), badge(frame.source));
    return parts;
  }

  player(seat) {
    const name = el("bdi", "player", this.data.players[seat]);
    name.title = this.data.players[seat];
    return name;
  }

  seat(frame, seat, className) {
    const { text, data } = this;
    const state = frame.seats[seat];
    const open = seat === this.pov || state.revealed || !this.hide;
    const head = el("header", "", badge(seat), this.player(seat));
    if (seat === data.dealer) head.append(el("span", "chip dealer", text.dealer));
    if (state.revealed) head.append(el("span", "chip revealed", text.revealed));
    if (open && state.waits.length)
      head.append(el("span", "waits", el("span", "quiet", text.waits), ...state.waits.flatMap((wait) => [tile(this, wait.tile, "mini"), el("span", "quiet live", `×${wait.live}`)])));
    head.append(el("span", "grow"), money(frame.money[seat]));
    const drawHeld = (name) => tile(this, open ? name : "back", state.hidden.includes(name) ? "facedown" : "");
    const hand = el("div", "hand", ...state.hand.map(drawHeld));
    if (state.drawn) hand.append(tile(this, open ? state.drawn : "back", "drawn"));
    const melds = el("div", "melds", ...state.melds.map((meld) => this.meld(meld, seat)));
    const latest = frame.seat === seat && "xy".includes(frame.verb ?? "-") ? state.river.length - 1 : -1;
    const discards = state.river.map((d, i) => this.discard(d, i === latest));
    const river = el("div", "river");
    for (let i = 0; i < discards.length; i += 6) river.append(el("div", "six", ...discards.slice(i, i + 6)));
    river.style.setProperty("--rows", this.rows[seat]);
    const panel = el("section", `panel ${className} ${frame.seat === seat ? "acting" : ""} edge${seat}`, head, el("div", "tiles", hand, melds), river);
    panel.setAttribute("aria-label", `${text.seat} ${seat}`);
    return panel;
  }

  meld(meld, seat) {
    const count = meld.kind === "pung" ? 3 : 4;
    const source = meld.from === null ? -1 : (meld.from - seat + 3) % 3; // 1: the next seat, 2: the one before
    const side = source === 2 ? 0 : source === 1 ? count - 1 : -1;
    const tiles = Array.from({ length: count }, (_, i) => {
      if (meld.kind === "concealed" && (i === 0 || i === 3)) return tile(this, "back");
      return tile(this, meld.tile, i === side ? "tilted" : "");
    });
    const group = el("span", `meld ${meld.robbed ? "robbed" : ""}`, ...tiles);
    if (meld.from !== null) group.append(badge(meld.from));
    group.title = this.text.meld[meld.kind] + (meld.robbed ? ` – ${this.text.robbed}` : "");
    return group;
  }

  discard(d, latest) {
    const cell = el("span", `d ${d.drawn ? "drawnout" : ""} ${d.taken !== null ? "taken" : ""} ${latest ? "latest" : ""} ${d.reveal ? "declares" : ""}`, tile(this, d.tile));
    if (d.taken !== null) cell.append(badge(d.taken));
    cell.title = [this.text.tile[d.tile], d.drawn ? this.text.drawnout : "", d.taken !== null ? `→ ${d.taken}` : ""].filter(Boolean).join(" · ");
    return cell;
  }

  wall(frame) {
    const { data, text } = this;
    const label = el("span", "quiet", `${text.wall} `, el("b", "num", String(frame.wall_left)));
    if (!data.wall) {
      const bar = el("div", "wallbar");
      bar.style.setProperty("--left", frame.wall_left / 44);
      return el("section", "wall", label, bar);
    }
    const gone = new Set(frame.gone);
    const tiles = data.wall.map((name, i) => tile(this, name, gone.has(i) ? "gone" : i === frame.next ? "coming" : ""));
    return el("section", "wall", label, el("div", "walltiles", ...tiles));
  }

  drawProblems() {
    const { data, text } = this;
    this.problems.hidden = data.problems.length === 0;
    this.problems.replaceChildren(
      el("h4", "", text.problems),
      ...data.problems.map((problem) => {
        const card = el("button", `problem ${problem.kind} ${problem.at === this.at ? "here" : ""}`);
        card.type = "button";
        card.append(el("b", "", problem.title), el("span", "quiet", problem.at === null ? ` ${text.whole}` : ` #${problem.no}`));
        card.append(el("p", "", el("bdi", "", problem.message)));
        if (problem.logged || problem.expected)
          card.append(
            el("dl", "", el("dt", "", text.logged), el("dd", "", el("bdi", "", problem.logged || "–")), el("dt", "", text.expected), el("dd", "", el("bdi", "", problem.expected || "–"))),
          );
        for (const change of problem.explained) card.append(el("code", "", change));
        card.addEventListener("click", () => this.go(problem.at ?? Infinity));
        return card;
      }),
    );
  }

  drawLedger(frame) {
    const { data, text } = this;
    const shown = data.ledger.filter((row) => row.at <= this.at);
    const body = el("tbody", "", ...shown.map((row) =>
      el("tr", row.at === this.at ? "here" : "", el("td", "", row.title),
        el("td", "who", row.from === null ? "" : badge(row.from), "→", row.to === null ? "" : badge(row.to)), el("td", "num", String(row.points)))));
    const line = (label, values, mark) => el("tr", "", el("th", "", label), ...values.map((value, seat) =>
      el("td", mark && mark[seat] ? "num differs" : "num", value === null ? "–" : money(value))));
    const totals = el("table", "totals", el("thead", "", el("tr", "", el("th", ""), ...[0, 1, 2].map((seat) => el("th", "", badge(seat))))));
    totals.append(el("tbody", "", line(text.sofar, frame.money)));
    const done = this.at === data.frames.length - 1;
    if (done && data.recorded) {
      const differs = data.recorded.map((value, seat) => value !== frame.money[seat]);
      totals.tBodies[0].append(line(text.recorded, data.recorded, differs));
      if (differs.includes(true)) totals.tBodies[0].append(line(text.difference, data.recorded.map((value, seat) => value - frame.money[seat]), differs));
    }
    this.ledger.replaceChildren(
      el("h4", "", text.ledger),
      shown.length ? el("table", "rows", body) : el("p", "quiet", text.unpaid),
      totals,
    );
    for (const win of data.wins)
      if (win.at <= this.at)
        this.ledger.append(el("div", "win", badge(win.seat), el("b", "", text.verb.w), tile(this, win.tile, "mini"), el("span", "num", `×${win.multiple}`),
          el("span", "fans", ...win.fans.map((fan) => el("span", "chip", fan)))));
  }

  // ---- moving ----
  step(by) {
    this.go(this.at + by);
  }

  seek(by, verbs, seat = null) {
    const { frames } = this.data;
    const hit = (f) => verbs.includes(f.verb ?? "-") && (seat === null || f.seat === seat);
    for (let at = this.at + by; at >= 0 && at < frames.length; at += by) if (hit(frames[at])) return this.go(at);
    return this.go(by < 0 ? 0 : Infinity);
  }

  play() {
    if (this.playing) {
      clearInterval(this.playing);
      this.playing = null;
    } else {
      if (this.at === this.data.frames.length - 1) this.go(0);
      this.playing = setInterval(() => (this.at < this.data.frames.length - 1 ? this.step(1) : this.play()), 700);
    }
    this.playButton.replaceChildren(icon(this.playing ? "stop" : "play"));
  }

  turn(seat) {
    this.pov = seat;
    this.go(this.at);
  }

  toggleHands() {
    this.hide = !this.hide;
    this.hideButton.classList.toggle("on", this.hide);
    this.go(this.at);
  }

  link() {
    const url = new URL(window.location.href);
    const no = this.data.frames[this.at].no;
    if (no === null) url.searchParams.delete("event");
    else url.searchParams.set("event", no);
    return url;
  }

  // The address follows a moment later: browsers refuse to have it rewritten at every step of a held key.
  remember() {
    this.start = this.at;
    clearTimeout(this.writing);
    this.writing = setTimeout(() => {
      if (this.host.isConnected) window.history.replaceState(window.history.state, "", this.link());
    }, 150);
  }

  copy() {
    navigator.clipboard?.writeText(this.link().href);
    this.now.append(el("span", "chip", this.text.copied));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.host.isConnected) return;
    const where = event.composedPath()[0];
    const inside = event.composedPath().includes(this.host);
    if (!inside && where !== document.body) return; // someone types, or works another control
    const act = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => this.go(0),
      End: () => this.go(Infinity),
      ArrowUp: () => this.seek(-1, OWN_VERBS, this.pov),
      ArrowDown: () => this.seek(1, OWN_VERBS, this.pov),
      PageUp: () => this.seek(-1, KEY_VERBS),
      PageDown: () => this.seek(1, KEY_VERBS),
      " ": () => this.play(),
      h: () => this.toggleHands(),
      b: () => this.copy(),
      "?": () => (this.help.hidden = !this.help.hidden),
    }[event.key];
    if (!act || (event.key === " " && where.tagName === "BUTTON")) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}

export default function (component) {
  const root = component.parentElement;
  let viewer = instances.get(root);
  if (viewer) viewer.update(component);
  else instances.set(root, (viewer = new Viewer(root, component)));
  return () => {
    viewer.close();
    viewer.host.remove();
    instances.delete(root);
  };
}

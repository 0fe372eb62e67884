// The round viewer: steps through frames that Python computed once; every step happens here, in the browser.

import { badge, button, el, sprite, tile } from "../elements.js";
import { link, ways } from "./export.js";
import { icon } from "./icons.js";
import { onKey } from "./keys.js";
import { Lanes } from "./lanes.js";
import { ledgerRows, problemCards } from "./ledger.js";
import { optionsPanel } from "./options.js";
import { chanceChip } from "./overlays.js";
import { OVERLAYS, State } from "./state.js";
import { drawTable, player } from "./table.js";

const STEP_MS = 700; // while it plays
const instances = new WeakMap();

class Viewer {
  constructor(root, component) {
    this.host = el("div", "viewer");
    this.host.tabIndex = 0;
    root.append(this.host);
    this.listener = (event) => onKey(this, event);
    document.addEventListener("keydown", this.listener);
    this.update(component);
  }

  // A new round is built anew; of the same one only what became known since is taken over.
  update(component) {
    const { data } = component;
    this.ask = (what) => component.setTriggerValue("review", what);
    if (this.signature === data.signature) {
      this.state.take(data);
      this.draw();
      return;
    }
    this.signature = data.signature;
    this.stop();
    this.state = new State(data, () => this.step());
    this.build();
    this.step();
    this.host.focus({ preventScroll: true });
  }

  close() {
    document.removeEventListener("keydown", this.listener);
    clearInterval(this.playing);
    clearTimeout(this.writing);
    this.host.remove();
  }

  // ---- what stays the same while stepping ----
  build() {
    const { data } = this.state;
    const { text } = data;
    this.rows = [0, 1, 2].map((seat) => Math.ceil(Math.max(...data.frames.map((frame) => frame.seats[seat].river.length)) / 6));
    this.count = el("span", "count");
    this.now = el("div", "now");
    this.now.setAttribute("aria-live", "polite");
    this.saves = el("div", "saves");
    this.saves.hidden = true;
    this.help = el("div", "help", ...text.keys.map(([keys, what]) => el("div", "", el("kbd", "", keys), el("span", "", what))));
    this.help.hidden = true;
    this.table = el("div", "table");
    this.lanes = new Lanes(this.state);
    this.options = el("section", "options");
    this.problems = el("section", "problems");
    this.ledger = el("section", "ledger");
    const bar = el("div", "bar", el("div", "controls", ...this.buttons()), this.overlayBar(), this.saves, this.help, this.now);
    const left = el("div", "left", bar, this.table, this.lanes.node);
    const side = el("aside", "side", this.problems, this.options, this.ledger);
    this.host.replaceChildren(sprite(data.tiles), el("div", "board", left, side));
    this.host.setAttribute("aria-label", text.title);
  }

  buttons() {
    const { state } = this;
    const { text } = state.data;
    this.playButton = button(icon("play"), text.play, () => this.play());
    this.povs = [0, 1, 2].map((seat) => button(badge(seat), `${text.view} ${seat}`, () => state.turn(seat), "pov"));
    this.hideButton = button(text.hands, text.hide, () => state.toggleHands());
    return [
      button(icon("first"), text.first, () => state.go(0)),
      button(icon("back"), text.back, () => state.step(-1)),
      this.count,
      button(icon("next"), text.next, () => state.step(1)),
      button(icon("last"), text.last, () => state.go(state.last)),
      this.playButton,
      ...this.povs,
      this.hideButton,
      button(icon("link"), text.copy, () => this.copy()),
      button(icon("save"), text.save, () => (this.saves.hidden = !this.saves.hidden)),
      button("?", text.help, () => this.toggleHelp()),
    ];
  }

  overlayBar() {
    const { state } = this;
    const { text } = state.data;
    this.toggles = OVERLAYS.map((name) => [name, button(text.overlay[name], text.overlay_more[name], () => state.toggle(name), "toggle")]);
    return el("div", "overlays", ...this.toggles.map(([, node]) => node));
  }

  // ---- one step ----
  step() {
    const begun = performance.now();
    this.draw();
    this.remember();
    this.host.dataset.stepMs = (performance.now() - begun).toFixed(1);
  }

  draw() {
    const { state } = this;
    this.count.textContent = `${state.at} / ${state.last}`;
    this.now.replaceChildren(...this.describe());
    this.table.replaceChildren(...drawTable(state, this.rows));
    this.lanes.draw(this.now.textContent);
    this.options.replaceChildren(...optionsPanel(state, this.ask));
    this.problems.replaceChildren(...problemCards(state));
    this.ledger.replaceChildren(...ledgerRows(state));
    this.saves.replaceChildren(...ways(state).map(([name, act]) => button(name, name, act)));
    this.povs.forEach((node, seat) => this.press(node, seat === state.pov));
    this.toggles.forEach(([name, node]) => this.press(node, state.overlays.has(name)));
    this.press(this.hideButton, state.hide);
    this.host.dataset.event = state.frame.no ?? "";
  }

  press(node, on) {
    node.classList.toggle("on", on);
    node.setAttribute("aria-pressed", String(on));
  }

  describe() {
    const { state } = this;
    const { frame } = state;
    const { text } = state.data;
    if (frame.verb === null) return [el("b", "", text.dealt)];
    const parts = [el("span", "no", `#${frame.no}`)];
    if (frame.seat !== null) parts.push(badge(frame.seat), player(state, frame.seat));
    parts.push(el("b", "", text.verb[frame.verb]));
    const seen = !"dr".includes(frame.verb) || state.open(frame.seat);
    if (frame.tile && seen) parts.push(tile(frame.tile, text.tile[frame.tile], "mini"));
    if (frame.source !== null) parts.push(el("span", "quiet", text.from), badge(frame.source));
    if (seen) parts.push(chanceChip(state));
    const wrong = state.data.problems.find((problem) => problem.at === state.at);
    if (wrong) parts.push(el("span", "chip danger", `▼ ${wrong.title}`));
    return parts;
  }

  // ---- moving ----
  play() {
    const { state } = this;
    if (this.playing) return this.stop();
    if (state.at === state.last) state.go(0);
    this.playing = setInterval(() => (state.at < state.last ? state.step(1) : this.stop()), STEP_MS);
    this.playButton.replaceChildren(icon("stop"));
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.playButton?.replaceChildren(icon("play"));
  }

  // The address follows a moment later: browsers refuse to have it rewritten at every step of a held key.
  remember() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => {
      if (this.host.isConnected) window.history.replaceState(window.history.state, "", link(this.state));
    }, 150);
  }

  copy() {
    navigator.clipboard?.writeText(link(this.state).href);
    this.now.append(el("span", "chip", this.state.data.text.copied));
  }

  toggleHelp() {
    this.help.hidden = !this.help.hidden;
  }
}

export default function (component) {
  const root = component.parentElement;
  let viewer = instances.get(root);
  if (viewer) viewer.update(component);
  else instances.set(root, (viewer = new Viewer(root, component)));
  return () => {
    viewer.close();
    instances.delete(root);
  };
}

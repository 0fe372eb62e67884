// A lane per seat with its events to click, problems above them, and a slider below.

import { badge, el } from "../elements.js";

export class Lanes {
  constructor(state) {
    this.state = state;
    const { frames, last } = state;
    this.far = Math.max(last, 1);
    this.marks = [];
    this.node = el("div", "lanes", this.flags(), ...[0, 1, 2].map((seat) => this.lane(seat)), this.scrub(frames.length));
  }

  place(at) {
    return `${(100 * at) / this.far}%`;
  }

  lane(seat) {
    const { text } = this.state.data;
    const track = el("div", "track");
    this.state.frames.forEach((frame, at) => {
      if (frame.seat !== seat) return;
      const mark = el("button", `mark v-${frame.verb} seat${seat}`, text.short[frame.verb] ?? "");
      mark.type = "button";
      mark.tabIndex = -1; // the arrow keys reach every event
      mark.title = `${frame.no}: ${text.verb[frame.verb]} ${text.tile[frame.tile] ?? ""}`;
      mark.style.left = this.place(at);
      mark.addEventListener("click", () => this.state.go(at));
      track.append(mark);
      this.marks.push([at, mark]);
    });
    return el("div", "lane", badge(seat), track);
  }

  flags() {
    const { problems } = this.state.data;
    this.cursor = el("div", "cursor");
    const track = el("div", "track flags");
    const there = problems.filter((problem) => problem.at !== null);
    for (const problem of there) {
      const flag = el("button", `flag ${problem.kind}`, "▼");
      flag.type = "button";
      flag.title = problem.title;
      flag.setAttribute("aria-label", `${problem.title} #${problem.no}`);
      flag.style.left = this.place(problem.at);
      flag.addEventListener("click", () => this.state.go(problem.at));
      track.append(flag);
    }
    track.append(this.cursor);
    return el("div", `lane ${there.length ? "" : "none"}`, el("span", "badge none"), track);
  }

  scrub(count) {
    this.slider = el("input");
    Object.assign(this.slider, { type: "range", min: 0, max: count - 1, step: 1 });
    this.slider.setAttribute("aria-label", this.state.data.text.event);
    this.slider.addEventListener("input", () => this.state.go(Number(this.slider.value)));
    return el("div", "lane", el("span", "badge none"), el("div", "track scrub", this.slider));
  }

  draw(said) {
    const { at } = this.state;
    this.slider.value = at;
    this.slider.setAttribute("aria-valuetext", said);
    this.cursor.style.left = this.place(at);
    for (const [where, mark] of this.marks) {
      mark.classList.toggle("here", where === at);
      const found = this.state.decision(this.state.frames[where].seat, where - 1);
      mark.classList.toggle("costly", Boolean(found?.flagged));
    }
  }
}

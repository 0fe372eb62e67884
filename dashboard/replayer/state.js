// Where the viewer stands in a round, whose eyes it looks through, and what is laid over the table.

const KEY_VERBS = "pkcalwez"; // events worth stopping at
const OWN_VERBS = "xypkcalw"; // what a seat decides to do
export const OVERLAYS = ["shanten", "useful", "danger", "luck"];

export class State {
  constructor(data, changed) {
    this.changed = changed;
    this.pov = data.pov;
    this.hide = false;
    this.overlays = new Set(["shanten", "useful", "danger"]);
    this.take(data);
    this.at = this.inside(data.start);
  }

  take(data) {
    this.data = data;
    this.frames = data.frames;
  }

  get frame() {
    return this.frames[this.at];
  }

  get last() {
    return this.frames.length - 1;
  }

  inside(at) {
    return Math.max(0, Math.min(this.last, at));
  }

  go(at) {
    this.at = this.inside(at);
    this.changed();
  }

  step(by) {
    this.go(this.at + by);
  }

  // The next frame on this side that fits; the end of the round where none does.
  seek(by, fits) {
    for (let at = this.at + by; at >= 0 && at <= this.last; at += by) if (fits(at)) return this.go(at);
    return this.go(by < 0 ? 0 : this.last);
  }

  key(by) {
    this.seek(by, (at) => KEY_VERBS.includes(this.frames[at].verb ?? "-"));
  }

  // A decision stands in the frame before the event that it led to; a pass leads to none and is known from a review.
  decides(at, seat) {
    const next = this.frames[at + 1];
    const declared = this.frames[at].verb === "l" && this.frames[at].seat === seat;
    const acts = next && next.seat === seat && OWN_VERBS.includes(next.verb ?? "-") && !declared;
    return acts || this.decision(seat, at) !== undefined;
  }

  own(by) {
    this.seek(by, (at) => this.decides(at, this.pov));
  }

  // The reviewed decision of a seat in a frame.
  decision(seat, at) {
    return this.data.review[seat]?.decisions.find((one) => one.event === at);
  }

  turn(seat) {
    this.pov = seat;
    this.changed();
  }

  toggleHands() {
    this.hide = !this.hide;
    this.changed();
  }

  toggle(overlay) {
    if (!this.overlays.delete(overlay)) this.overlays.add(overlay);
    this.changed();
  }

  // Whether a seat's concealed tiles are to be seen.
  open(seat) {
    return seat === this.pov || !this.hide;
  }
}

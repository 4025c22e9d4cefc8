// Draws what is in view on a canvas: time across, lanes from the top.

const AXIS = 22, STRIP = 22, HEAD = AXIS + STRIP;
const ROW = 16, GAP = 2, PADDING = 4, CLOSED = 10;
const COLOURS = 7;
const LAYERS = { messages: "c0", datagrams: "c4", segments: "c3", fragments: "c2", frames: "c1", radio: "c6", computing: "c0", timers: "c6" };
const PARTS = ["c1", "c4", "c2", "c3", "c6", "c5", "c0"];
const LEVELS = { transmit: 1, receive: 0.66, listen: 0.33 }; // heights of the radio's states

class Picture extends Drawing {
  constructor(canvas, events) {
    super(canvas);
    this.events = events;
    this.widths = new Map();
    this.left = 0; // the width of the labels
  }

  // Gives each lane its place. Returns the height of all.
  place(lanes) {
    let top = HEAD;
    for (const lane of lanes) {
      lane.top = top;
      lane.height = lane.closed ? CLOSED : lane.rows * (ROW + GAP) + PADDING;
      top += lane.height;
    }
    return top;
  }

  x(us) { return this.left + (us - this.view.from) * this.scale; }
  us(x) { return this.view.from + (x - this.left) / this.scale; }

  // The top and the height of an event.
  band(i) {
    const lane = this.events.lanes[this.events.lane[i]], top = lane.top - this.scroll;
    if (lane.closed) return [top + 2, CLOSED - 4];
    return [top + PADDING / 2 + this.events.row[i] * (ROW + GAP), ROW];
  }

  middle(i) {
    const [top, height] = this.band(i);
    return top + height / 2;
  }

  // `view` has from and to; `shown` has what is chosen, found and highlighted.
  draw(view, scroll, shown) {
    const { context: c, colours, events } = this;
    this.view = view;
    this.scroll = scroll;
    this.scale = (this.width - this.left) / (view.to - view.from);
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = colours.back;
    c.fillRect(0, 0, this.width, this.height);
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.lineWidth = 1;
    const step = this.step();
    this.lines(step, shown);
    c.save();
    c.beginPath();
    c.rect(this.left, HEAD, this.width - this.left, this.height - HEAD);
    c.clip();
    const marked = [];
    for (const lane of events.lanes) {
      if (lane.top - scroll > this.height || lane.top + lane.height - scroll < HEAD) continue;
      this.lane(lane, shown, marked);
    }
    for (const i of marked) this.event(i, shown);
    this.arrows(shown);
    if (shown.chosen >= 0) this.frame(shown.chosen, colours.accent, 3);
    if (shown.cursor !== null) {
      c.fillStyle = colours.accent;
      c.fillRect(Math.round(this.x(shown.cursor)), HEAD, 2, this.height);
    }
    c.restore();
    this.head(step, shown);
    if (shown.range) {
      const [a, b] = shown.range.map((us) => this.x(us));
      c.fillStyle = colours.accent;
      c.globalAlpha = 0.2;
      c.fillRect(Math.min(a, b), AXIS, Math.abs(b - a), this.height);
      c.globalAlpha = 1;
    }
  }

  // The time between two ticks: 1, 2 or 5 times a power of ten, at least 110 pixels.
  step() {
    const least = Math.max(1, 110 / this.scale);
    const power = 10 ** Math.floor(Math.log10(least));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= least - 1e-9);
  }

  // Behind the events: lanes, ticks, begin and end, the time of the part that is chosen.
  lines(step, shown) {
    const { context: c, colours, events } = this;
    events.lanes.forEach((lane, number) => {
      const top = lane.top - this.scroll;
      if (number % 2) {
        c.fillStyle = colours.raised;
        c.fillRect(0, top, this.width, lane.height);
      }
      if (number && lane.layer !== events.lanes[number - 1].layer) {
        c.fillStyle = colours.soft;
        c.fillRect(0, Math.round(top), this.width, 1);
      }
    });
    c.fillStyle = colours.line;
    for (let at = Math.ceil(this.view.from / step) * step; at <= this.view.to; at += step)
      c.fillRect(Math.round(this.x(at)), HEAD, 1, this.height);
    if (shown.part >= 0) {
      c.fillStyle = colours.accent;
      c.globalAlpha = 0.18;
      for (const [from, to] of events.parts[shown.part].spans)
        c.fillRect(this.x(from), HEAD, Math.max(1, (to - from) * this.scale), this.height);
      c.globalAlpha = 1;
    }
    c.fillStyle = colours.soft;
    for (const at of [events.start, events.end]) {
      const x = Math.round(this.x(at));
      if (x >= this.left) c.fillRect(x, HEAD, 1, this.height);
    }
    c.fillStyle = colours.line;
    c.fillRect(this.left - 1, 0, 1, this.height);
  }

  // Above the lanes: the times, and the critical path by parts.
  head(step, shown) {
    const { context: c, colours, events } = this;
    c.fillStyle = colours.back;
    c.fillRect(0, 0, this.width, HEAD);
    c.save();
    c.beginPath();
    c.rect(this.left, 0, this.width - this.left, HEAD);
    c.clip();
    c.fillStyle = colours.soft;
    for (let at = Math.ceil(this.view.from / step) * step; at <= this.view.to; at += step) {
      const x = Math.round(this.x(at));
      c.fillRect(x, AXIS - 5, 1, 5);
      c.fillText(time(at, step), x + 4, AXIS / 2);
    }
    let used = -Infinity;
    for (const { from, to, part } of events.path) {
      if (to < this.view.from || from > this.view.to) continue;
      const left = Math.max(this.x(from), this.left), right = Math.min(this.x(to), this.width);
      if (right < used + 0.5) continue; // less than half a pixel
      used = right;
      const { colour, kind } = events.parts[part];
      c.fillStyle = colours[PARTS[colour % COLOURS]];
      c.globalAlpha = colour < COLOURS ? 1 : 0.55;
      c.fillRect(left, AXIS, Math.max(right - left, 0.5), STRIP - 3);
      c.globalAlpha = 1;
      if (right - left > 6) {
        c.fillStyle = colours.back;
        c.fillRect(left, AXIS, 1, STRIP - 3);
        c.fillStyle = "#000000";
        this.text(`${part + 1} ${kind}`, left + 4, AXIS + (STRIP - 3) / 2, right - left - 6);
      }
      if (part === shown.part) {
        c.fillStyle = colours.text;
        c.fillRect(left, AXIS + STRIP - 3, Math.max(right - left, 1), 3);
      }
    }
    c.restore();
    c.fillStyle = colours.soft;
    c.fillText("time", 6, AXIS / 2);
    c.fillStyle = colours.text;
    c.fillText("critical path, by part", 6, AXIS + (STRIP - 3) / 2);
    c.fillStyle = colours.soft;
    c.fillRect(0, HEAD - 1, this.width, 1);
  }

  // Writes a text if at least some of it has room.
  text(text, x, y, room) {
    if (room < 20) return;
    let width = this.widths.get(text);
    if (width === undefined) this.widths.set(text, width = this.context.measureText(text).width);
    if (width > room) {
      const letters = Math.floor((text.length * (room - 14)) / width);
      if (letters < 1) return;
      text = `${text.slice(0, letters)}…`;
    }
    this.context.fillText(text, x, y);
  }

  // The plain events of a lane; those with a sign come later, on top of the others.
  lane(lane, shown, marked) {
    const { events } = this;
    const filled = new Float64Array(MOST_ROWS).fill(-Infinity); // the last pixel of each row
    this.events.within(lane, this.view.from, this.view.to, (i) => {
      if (events.state[i] !== OK || events.critical[i] || shown.found?.[i]) {
        marked.push(i);
        return;
      }
      const right = this.x(events.to[i]), row = events.row[i];
      const named = this.x(events.room[i]) > right + 20;
      if (right < filled[row] + 0.5 && !named) return; // there is no pixel left for it, nor room for its name
      filled[row] = right;
      this.event(i, shown);
    });
  }

  event(i, shown) {
    const { context: c, colours, events } = this;
    const lane = events.lanes[events.lane[i]], state = events.state[i];
    let [top, height] = this.band(i);
    if (lane.layer === "radio") {
      const level = LEVELS[events.name(i)] ?? 1;
      top += height * (1 - level);
      height *= level;
    }
    const left = Math.max(this.x(events.from[i]), this.left - 4), right = Math.min(this.x(events.to[i]), this.width + 4);
    const width = Math.max(right - left, 1.5);
    const colour = state === LOST ? colours.bad : colours[LAYERS[lane.layer] ?? "c6"];
    c.globalAlpha = shown.found && !shown.found[i] ? 0.25 : 1;
    if (width < 3) {
      c.fillStyle = colour;
      c.fillRect(left, top, width, height);
    } else {
      const full = c.globalAlpha;
      c.fillStyle = state === SPURIOUS ? colours.back : colour;
      c.globalAlpha = state === SPURIOUS ? full : full * 0.35;
      c.fillRect(left, top, width, height);
      c.globalAlpha = full;
      c.strokeStyle = colour;
      if (state === SPURIOUS) c.setLineDash([3, 2]);
      c.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
      c.setLineDash([]);
    }
    if (events.critical[i]) {
      c.fillStyle = colours.text;
      c.fillRect(left, top + height - 2.5, width, 2.5);
    }
    if (!lane.closed) {
      if (state !== OK) this.sign(state, Math.min(left + 7, this.width - 8), top + height / 2);
      c.fillStyle = colours.text;
      // Inside, or behind if that has no room.
      const begin = state === OK ? 3 : 15, inside = width - begin > 20;
      const end = inside ? right : Math.min(this.x(events.room[i]), this.width) - 2;
      const at = inside ? left + begin : Math.max(right, left + begin - 3) + 3;
      if (lane.layer !== "radio") this.text(events.name(i), at, top + height / 2, end - at - 2);
    }
    if (shown.found?.[i]) this.frame(i, colours.text, 1.5);
    c.globalAlpha = 1;
  }

  // The outcome as a shape: a cross, a full triangle, a hollow triangle.
  sign(state, x, y) {
    const { context: c, colours } = this;
    if (state === LOST) {
      c.strokeStyle = colours.bad;
      c.lineWidth = 2.5;
      this.cross(x, y, 4);
    } else {
      c.beginPath();
      c.moveTo(x, y - 5); c.lineTo(x + 5, y + 4); c.lineTo(x - 5, y + 4); c.closePath();
      c.fillStyle = state === NEEDED ? colours.text : colours.back;
      c.fill();
      c.strokeStyle = colours.text;
      c.lineWidth = 1.2;
      c.stroke();
    }
    c.lineWidth = 1;
  }

  frame(i, colour, line) {
    const { context: c, events } = this, [top, height] = this.band(i);
    const left = Math.max(this.x(events.from[i]), this.left - 9), right = Math.min(this.x(events.to[i]), this.width + 9);
    c.strokeStyle = colour;
    c.lineWidth = line;
    c.strokeRect(left - line, top - line / 2, Math.max(right - left, 1) + 2 * line, height + line);
    c.lineWidth = 1;
  }

  // From cause to effect: on the critical path always; of the chosen event all causes, and what it causes.
  arrows(shown) {
    const { context: c, colours, events } = this;
    const critical = new Map(), chosen = new Map();
    for (const i of events.steps) this.arrow(i, critical);
    for (let i = shown.chosen; i >= 0 && events.cause[i] >= 0; i = events.cause[i]) this.arrow(i, chosen);
    for (const i of events.effects.get(shown.chosen) ?? []) this.arrow(i, chosen);
    const dense = critical.size > this.width / 8; // then lines alone, so that the events can be seen
    c.strokeStyle = c.fillStyle = colours.text;
    c.globalAlpha = dense ? 0.2 : 1;
    c.lineWidth = dense ? 1 : 1.2;
    for (const ends of critical.values()) this.curve(ends, !dense);
    c.strokeStyle = c.fillStyle = colours.accent;
    c.globalAlpha = 1;
    c.lineWidth = 2.2;
    for (const ends of chosen.values()) this.curve(ends, true);
    c.lineWidth = 1;
  }

  // Adds the arrow to an event from its cause, if it is in view and there is none like it.
  arrow(effect, arrows) {
    const { events } = this, cause = events.cause[effect];
    const at = Math.min(Math.max(events.from[effect], events.from[cause]), events.to[cause]);
    const x1 = this.x(at), x2 = this.x(events.from[effect]);
    if (Math.max(x1, x2) < this.left || Math.min(x1, x2) > this.width) return;
    const y1 = this.middle(cause), y2 = this.middle(effect);
    if (Math.max(y1, y2) < HEAD || Math.min(y1, y2) > this.height) return;
    arrows.set(`${x1 | 0} ${y1 | 0} ${x2 | 0} ${y2 | 0}`, [x1, y1, x2, y2]);
  }

  curve([x1, y1, x2, y2], pointed) {
    const { context: c } = this;
    const far = Math.abs(x2 - x1) >= 14;
    c.beginPath();
    c.moveTo(x1, y1);
    if (far) {
      const bend = (x2 - x1) / 2;
      c.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    } else c.lineTo(x2, y2);
    c.stroke();
    if (!pointed || Math.hypot(x2 - x1, y2 - y1) < 8) return;
    const angle = far ? (x2 > x1 ? 0 : Math.PI) : Math.atan2(y2 - y1, x2 - x1);
    c.beginPath();
    c.moveTo(x2, y2);
    for (const side of [-0.45, 0.45]) c.lineTo(x2 - 8 * Math.cos(angle + side), y2 - 8 * Math.sin(angle + side));
    c.fill();
  }

  // The event at a point: the shortest of those within 3 pixels. -1: none.
  hit(x, y) {
    const { events } = this, near = 3 / this.scale, at = this.us(x);
    if (x < this.left || y < HEAD) return -1;
    const lane = events.lanes.find((one) => y >= one.top - this.scroll && y < one.top + one.height - this.scroll);
    if (!lane) return -1;
    let best = -1;
    events.within(lane, at - near, at + near, (i) => {
      const [top, height] = this.band(i);
      if (y < top - GAP || y > top + height + GAP) return;
      if (best < 0 || events.to[i] - events.from[i] < events.to[best] - events.from[best]) best = i;
    });
    return best;
  }
}

// The events of one handshake, as the page's data has them.

const STATES = ["", "lost", "sent again, needed", "sent again, spurious"];
const [OK, LOST, NEEDED, SPURIOUS] = [0, 1, 2, 3];

class Events {
  constructor(data) {
    const { events, texts } = data;
    this.texts = texts;
    this.lanes = data.lanes.map(([name, host, layer]) => ({ name, host, layer, places: [] }));
    this.parts = data.parts;
    this.path = data.path.map(([from, to, part, event]) => ({ from, to, part, event }));
    this.start = data.from;
    this.end = data.to;
    this.count = events.lane.length;
    this.lane = Uint16Array.from(events.lane);
    this.state = Uint8Array.from(events.state);
    this.cause = Int32Array.from(events.cause);
    this.critical = new Uint8Array(this.count);
    for (const place of events.critical) this.critical[place] = 1;
    this.from = new Float64Array(this.count);
    this.to = new Float64Array(this.count);
    let now = 0;
    for (let i = 0; i < this.count; i++) {
      now += events.after[i];
      this.from[i] = now;
      this.to[i] = now + events.length[i];
    }
    this.names = events.name;
    this.kinds = events.kind;
    this.details = events.detail;
    this.effects = new Map();
    for (let i = 0; i < this.count; i++) {
      this.lanes[this.lane[i]].places.push(i);
      if (this.cause[i] >= 0) {
        if (!this.effects.has(this.cause[i])) this.effects.set(this.cause[i], []);
        this.effects.get(this.cause[i]).push(i);
      }
    }
    // Steps on the critical path whose cause is there too.
    this.steps = events.critical.filter((i) => this.cause[i] >= 0 && this.critical[this.cause[i]]);
    this.first = this.from.reduce((a, b) => Math.min(a, b), this.start);
    this.last = this.to.reduce((a, b) => Math.max(a, b), this.end);
    this.stack();
  }

  name(i) { return this.texts[this.names[i]]; }
  kind(i) { return this.texts[this.kinds[i]]; }

  // The pairs of key and value for reading.
  detail(i) {
    const words = this.details[i], pairs = [];
    for (let j = 0; j < words.length; j += 2) pairs.push([this.texts[words[j]], this.texts[words[j + 1]]]);
    return pairs;
  }

  // Events of a lane that overlap stand in rows, one below the other.
  stack() {
    this.row = new Uint8Array(this.count);
    this.room = new Float64Array(this.count).fill(Infinity); // when the next event of the row begins
    for (const lane of this.lanes) {
      const ends = [], last = [];
      lane.latest = []; // the latest end of each event and all before it
      let latest = -Infinity;
      for (const i of lane.places) {
        let row = ends.findIndex((end) => end <= this.from[i]);
        if (row < 0) row = Math.min(ends.length, MOST_ROWS - 1);
        ends[row] = Math.max(this.to[i], ends[row] ?? 0);
        this.row[i] = row;
        if (row in last) this.room[last[row]] = this.from[i];
        last[row] = i;
        lane.latest.push(latest = Math.max(latest, this.to[i]));
      }
      lane.rows = Math.max(1, ends.length);
    }
  }

  // Calls `visit` with each event of a lane that is at least partly in this time.
  within(lane, from, to, visit) {
    let low = 0, high = lane.places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.latest[middle] < from) low = middle + 1; else high = middle;
    }
    for (; low < lane.places.length; low++) {
      const i = lane.places[low];
      if (this.from[i] > to) return;
      if (this.to[i] >= from) visit(i);
    }
  }

  // Which events have each of these words in their texts. Null: no words.
  find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return null;
    const lower = this.texts.map((one) => String(one).toLowerCase());
    const found = new Uint8Array(this.count).fill(1);
    for (const word of words) {
      const has = lower.map((one) => one.includes(word));
      const lanes = this.lanes.map((lane) => `${lane.name} ${lane.host}`.toLowerCase().includes(word));
      const states = STATES.map((one) => one.includes(word));
      for (let i = 0; i < this.count; i++) {
        if (!(has[this.names[i]] || has[this.kinds[i]] || lanes[this.lane[i]] || states[this.state[i]]
          || this.details[i].some((one) => has[one]))) found[i] = 0;
      }
    }
    return found;
  }
}

const MOST_ROWS = 6; // Events that overlap more than this share the last row.

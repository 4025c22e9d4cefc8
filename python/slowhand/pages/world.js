// A world as it was at any time: the data of the page in columns that are searched, not walked through.

const [SENDS, RECEIVES, LISTENS, OFF] = [0, 1, 2, 3];
const RADIO = ["sends", "receives", "listens", "is off"];

// The number of these numbers, which grow, that are at most `value`.
function upTo(numbers, value) {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= value) low = middle + 1; else high = middle;
  }
  return low;
}

// Links with the worse of their two directions: sender, receiver, share of frames that arrive.
function* worst(links) {
  const pairs = new Map();
  for (const [from, to, pdr] of links) {
    const pair = Math.min(from, to) * 65536 + Math.max(from, to);
    pairs.set(pair, Math.min(pdr, pairs.get(pair) ?? 1));
  }
  for (const [pair, pdr] of pairs) yield [Math.floor(pair / 65536), pair % 65536, pdr];
}

class World {
  constructor(data) {
    this.data = data;
    this.nodes = data.nodes;
    this.internet = data.has_internet ? data.nodes.length : -1; // the number of this host
    this.texts = data.texts;
    this.datagrams = data.datagrams;
    const { frames } = data;
    this.count = frames.from_us.length;
    this.from = Float64Array.from(frames.from_us);
    this.to = Float64Array.from(frames.length_us, (length, i) => this.from[i] + length);
    this.sender = Uint16Array.from(frames.from);
    this.receiver = Int32Array.from(frames.to, (to) => to ?? -1); // -1: all neighbours
    this.state = Uint8Array.from(frames.state);
    this.longest = frames.length_us.reduce((a, b) => Math.max(a, b), 0);
    this.radios = data.radios.map((radio) => radioOf(radio));
    this.buffers = data.buffers.map((of) => ({ ...of, from: Float64Array.from(of.from_us) }));
    this.crossings = this.datagrams.map((datagram, place) => ({ place, span: datagram.internet_us })).filter(({ span }) => span);
    this.longestCrossing = this.crossings.reduce((most, { span }) => Math.max(most, span[1] - span[0]), 0);
    this.crossings.sort((a, b) => a.span[0] - b.span[0]);
    this.crossed = Float64Array.from(this.crossings, ({ span }) => span[0]);
    this.end = data.end_us;
    this.listens = !data.without_listening; // else nobody knows how long a radio was on
    this.links = [...worst(data.links)];
  }

  // The place of the first frame that begins after a time.
  after(us) { return upTo(this.from, us); }

  // Calls `visit` with each frame that is at least partly in this time; with the last ones, if they are many.
  frames(from, to, visit, most = Infinity) {
    const behind = upTo(this.from, to);
    for (let i = Math.max(upTo(this.from, from - this.longest - 1), behind - most); i < behind; i++)
      if (this.to[i] >= from) visit(i);
  }

  // Calls `visit` with each datagram on the Internet at this time.
  crossingAt(us, visit) {
    for (let i = upTo(this.crossed, us - this.longestCrossing - 1); i < this.crossings.length && this.crossed[i] <= us; i++)
      if (this.crossings[i].span[1] >= us) visit(this.crossings[i].place, this.crossings[i].span);
  }

  // The state of each radio at a time.
  radiosAt(us) { return this.nodes.map((_, node) => this.radioAt(node, us)); }

  radioAt(node, us) {
    const { from, to, state } = this.radios[node], i = upTo(from, us) - 1;
    return i >= 0 && us < to[i] ? state[i] : OFF;
  }

  // The time that the radio was in each state until a time.
  radioTimes(node, us) {
    const { from, to, state, sums } = this.radios[node], i = upTo(from, us) - 1, times = [0, 0, 0, us];
    if (i < 0) return times;
    for (const of of [SENDS, RECEIVES, LISTENS]) times[of] = sums[of][i];
    times[state[i]] += Math.min(us, to[i]) - from[i];
    times[OFF] = us - times[SENDS] - times[RECEIVES] - times[LISTENS];
    return times;
  }

  // The energy of the radio until a time, in millijoules.
  radioEnergy(node, us) {
    const times = this.radioTimes(node, us);
    return this.nodes[node].radio_mw.reduce((sum, mw, of) => sum + (mw * times[of]) / 1e6, 0);
  }

  buffersAt(node, us) {
    const { from, queued, octets, forwarding } = this.buffers[node], i = upTo(from, us) - 1;
    return i < 0 ? { queued: 0, octets: 0, forwarding: 0 } : { queued: queued[i], octets: octets[i], forwarding: forwarding[i] };
  }

  computesAt(host, us) {
    return this.data.computing.some((one) => one.host === host && one.from_us <= us && us < one.to_us);
  }

  // True if a frame carries or acknowledges a part of a datagram of a session.
  carries(i) { return this.data.frames.datagram[i] !== null; }

  hostName(host) { return host === this.internet ? "the Internet" : `node ${host}`; }
  frameName(i) { return this.texts[this.data.frames.name[i]]; }

  // The datagram that a frame carries a part of, or acknowledges, or is sent for.
  carried(i) {
    const place = this.data.frames.datagram[i];
    return place === null ? null : this.datagrams[place];
  }

  receiverName(i) { return this.receiver[i] < 0 ? "all neighbours" : `node ${this.receiver[i]}`; }

  // A frame in a line of words.
  words(i) {
    const carried = this.carried(i), of = carried ? ` of ${carried.name}` : "";
    const became = this.state[i] ? `: ${STATES[this.state[i]]}` : "";
    return `node ${this.sender[i]} to ${this.receiverName(i)}: ${this.frameName(i)}${of}${became}`;
  }
}

function radioOf({ from_us, length_us, state }) {
  const from = Float64Array.from(from_us), to = Float64Array.from(length_us, (length, i) => from[i] + length);
  const sums = [0, 1, 2].map(() => new Float64Array(from.length)); // until the beginning of each interval
  const sum = [0, 0, 0];
  for (let i = 0; i < from.length; i++) {
    for (const of of [0, 1, 2]) sums[of][i] = sum[of];
    sum[state[i]] += to[i] - from[i];
  }
  return { from, to, state: Uint8Array.from(state), sums };
}

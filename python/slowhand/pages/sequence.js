// The datagrams of one handshake between its ends, as a sequence diagram. Time goes down, and each instant has a row of its own.

const ROW_PX = 26, TOP_PX = 34, TIMES_PX = 74, MOST_DATAGRAMS = 400;

class Sequence {
  // `seek` is called with the time of a datagram that the reader clicks on.
  constructor(svg, world, handshake, seek) {
    this.svg = svg;
    const all = world.datagrams.filter((datagram) => datagram.handshake === handshake);
    this.datagrams = all.slice(0, MOST_DATAGRAMS);
    this.left = all.length - this.datagrams.length;
    this.ended = (datagram) => datagram.arrived_us ?? datagram.loss?.at_us ?? datagram.sent_us;
    this.times = [...new Set(this.datagrams.flatMap((one) => [one.sent_us, this.ended(one)]))].sort((a, b) => a - b);
    const hosts = [...new Set(this.datagrams.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
    this.draw(world, hosts, seek);
  }

  y(us) { return TOP_PX + ROW_PX * (0.8 + upTo(this.times, us) - 1); }

  // Between two instants the cursor moves evenly.
  cursorAt(us) {
    const before = upTo(this.times, us) - 1, { times } = this;
    if (before < 0) return TOP_PX;
    if (before + 1 >= times.length) return this.y(times[before]);
    return this.y(times[before]) + ROW_PX * ((us - times[before]) / (times[before + 1] - times[before]));
  }

  draw(world, hosts, seek) {
    const width = 460, height = TOP_PX + ROW_PX * (this.times.length + 0.6);
    const x = new Map(hosts.map((host, place) => [host, TIMES_PX + 40 + (place * (width - TIMES_PX - 80)) / Math.max(hosts.length - 1, 1)]));
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    const parts = [];
    for (const host of hosts) {
      parts.push(drawn("line", { class: "life", x1: x.get(host), y1: TOP_PX, x2: x.get(host), y2: height }));
      parts.push(drawn("text", { class: "host", x: x.get(host), y: 18 }, world.hostName(host).replace("the ", "")));
    }
    for (const us of this.times) parts.push(drawn("text", { class: "when", x: TIMES_PX - 8, y: this.y(us) + 4 }, (us / 1e6).toFixed(3)));
    this.arrows = this.datagrams.map((datagram) => this.arrow(datagram, x, seek));
    this.cursor = drawn("line", { class: "cursor", x1: 0, x2: width });
    this.svg.replaceChildren(...parts, ...this.arrows, this.cursor);
  }

  arrow(datagram, x, seek) {
    const [x1, y1, y2] = [x.get(datagram.from), this.y(datagram.sent_us), this.y(this.ended(datagram))];
    const isLost = datagram.state === LOST, reach = isLost ? 0.62 : 1, x2 = x1 + (x.get(datagram.to) - x1) * reach;
    const group = drawn("g", { class: `arrow ${["", "lost", "again", "spurious"][datagram.state]}` }), way = Math.sign(x2 - x1) || 1;
    group.append(drawn("line", { x1, y1, x2, y2 }));
    group.append(isLost
      ? drawn("path", { d: `M${x2 - 5} ${y2 - 5}l10 10m0 -10l-10 10` })
      : drawn("path", { class: "head", d: `M${x2} ${y2}l${-8 * way} -4v8z` }));
    const middle = (x1 + x.get(datagram.to)) / 2, share = (middle - x1) / (x2 - x1 || 1);
    group.append(drawn("text", { x: middle, y: y1 + (y2 - y1) * Math.min(share, 1) - 5 }, datagram.name));
    group.append(drawn("title", {}, [`${datagram.name}, ${datagram.octets} octets`, STATES[datagram.state], datagram.loss?.words].filter(Boolean).join(": ")));
    group.addEventListener("click", () => seek(datagram.sent_us));
    return group;
  }

  // Shows a time: what was sent before it is seen in full.
  show(us) {
    const y = this.cursorAt(us);
    this.cursor.setAttribute("y1", y);
    this.cursor.setAttribute("y2", y);
    this.arrows.forEach((arrow, i) => arrow.classList.toggle("later", this.datagrams[i].sent_us > us));
    return y;
  }
}

// The datagrams of one handshake between its ends, as a sequence diagram. Time goes down, and each instant has a row of its own.

const ROW_PX = 26, TOP_PX = 34, TIMES_PX = 74, MOST_DATAGRAMS = 400;

class Sequence {
  // `seek` is called with the time of a datagram that the reader clicks on.
  constructor(svg, world, handshake, seek, id) {
    this.svg = svg;
    this.seek = seek;
    this.id = id;
    this.at = -1;
    const all = world.datagrams.filter((datagram) => datagram.handshake === handshake);
    this.datagrams = all.slice(0, MOST_DATAGRAMS);
    this.left = all.length - this.datagrams.length;
    this.ended = (datagram) => datagram.arrived_us ?? datagram.loss?.at_us ?? world.end; // it is still on its way then
    this.times = [...new Set(this.datagrams.flatMap((one) => [one.sent_us, this.ended(one)]))].sort((a, b) => a - b);
    const hosts = [...new Set(this.datagrams.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
    this.draw(world, hosts);
  }

  y(us) { return TOP_PX + ROW_PX * (0.8 + upTo(this.times, us) - 1); }

  // Between two instants the cursor moves evenly.
  cursorAt(us) {
    const before = upTo(this.times, us) - 1, { times } = this;
    if (before < 0) return TOP_PX;
    if (before + 1 >= times.length) return this.y(times[before]);
    return this.y(times[before]) + ROW_PX * ((us - times[before]) / (times[before + 1] - times[before]));
  }

  draw(world, hosts) {
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
    this.arrows = this.datagrams.map((datagram, place) => this.arrow(datagram, place, x, world));
    this.cursor = drawn("line", { class: "cursor", x1: 0, x2: width });
    this.svg.replaceChildren(...parts, ...this.arrows, this.cursor);
  }

  arrow(datagram, place, x, world) {
    const [x1, y1, y2] = [x.get(datagram.from), this.y(datagram.sent_us), this.y(this.ended(datagram))];
    const isLost = datagram.state === LOST, isUnderWay = datagram.arrived_us === null && !isLost;
    const reach = isLost || isUnderWay ? 0.62 : 1, x2 = x1 + (x.get(datagram.to) - x1) * reach;
    const became = isUnderWay ? "under-way" : ["", "lost", "again", "spurious"][datagram.state];
    const group = drawn("g", { class: `arrow ${became}`, role: "option", id: `${this.id}-${place}`, "aria-selected": "false" }), way = Math.sign(x2 - x1) || 1;
    group.setAttribute("aria-label", `${time(datagram.sent_us, 1000)}: ${datagram.name}, ${world.hostName(datagram.from)} to ${world.hostName(datagram.to)}`
      + (datagram.state ? `, ${STATES[datagram.state]}` : ""));
    group.append(drawn("line", { x1, y1, x2, y2 }));
    if (isLost) group.append(drawn("path", { d: `M${x2 - 5} ${y2 - 5}l10 10m0 -10l-10 10` }));
    else if (!isUnderWay) group.append(drawn("path", { class: "head", d: `M${x2} ${y2}l${-8 * way} -4v8z` }));
    const middle = (x1 + x.get(datagram.to)) / 2, share = (middle - x1) / (x2 - x1 || 1);
    group.append(drawn("text", { x: middle, y: y1 + (y2 - y1) * Math.min(share, 1) - 5 }, datagram.name));
    const words = [`${datagram.name}, ${datagram.octets} octets`, isUnderWay ? "on its way" : STATES[datagram.state], datagram.loss?.words];
    group.append(drawn("title", {}, words.filter(Boolean).join(": ")));
    group.addEventListener("click", () => this.choose(place));
    return group;
  }

  // Keys of the element around the picture.
  listen(box) {
    this.box = box;
    box.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!by || !this.arrows.length) return;
      event.preventDefault();
      this.choose(Math.min(Math.max(this.at + by, 0), this.arrows.length - 1));
    });
  }

  choose(place) {
    this.at = place;
    this.arrows.forEach((arrow, i) => arrow.setAttribute("aria-selected", i === place));
    this.box.setAttribute("aria-activedescendant", `${this.id}-${place}`);
    this.seek(this.datagrams[place].sent_us);
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

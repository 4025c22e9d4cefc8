// A network that runs: what the server of the page tells is drawn, and what the reader switches is sent.

const SHOWS_US = 300_000; // The picture is so far behind the network: a frame is told up to a tenth of a second late.
const KEEPS_US = 3_000_000; // Frames are kept for so long.
const MOST_ROWS_LISTED = 12;

// The last frames and the present state, as `Mesh` reads a world.
class Present {
  constructor(nodes) {
    this.nodes = nodes;
    this.internet = -1;
    this.links = [];
    this.data = { computing: [] };
    this.buffers = new Map();
    this.seen = [];
    this.index();
  }

  add(frames, us) {
    this.seen = this.seen.concat(frames).filter((frame) => frame.at_us > us - KEEPS_US);
    this.index();
  }

  // The columns that the mesh reads.
  index() {
    this.sender = this.seen.map((frame) => frame.from);
    this.receiver = this.seen.map((frame) => frame.to ?? -1);
    this.from = this.seen.map((frame) => frame.at_us);
    this.to = this.seen.map((frame) => frame.at_us + frame.length_us);
    this.state = this.seen.map((frame) => (frame.lost ? LOST : OK));
  }

  frames(from, to, visit) {
    for (let i = 0; i < this.seen.length; i++) if (this.from[i] <= to && this.to[i] >= from) visit(i);
  }

  crossingAt() {}
  carries(i) { return this.seen[i].carries; }
  frameName(i) { return this.seen[i].name; }

  radiosAt(us) {
    const states = new Uint8Array(this.nodes.length).fill(OFF);
    this.frames(us, us, (i) => {
      states[this.sender[i]] = SENDS;
      if (this.receiver[i] >= 0 && this.state[i] === OK) states[this.receiver[i]] = RECEIVES;
    });
    return states;
  }

  buffersAt(node) { return this.buffers.get(node) ?? { queued: 0, octets: 0, forwarding: 0 }; }
}

class Running extends Section {
  constructor(main) {
    super();
    const one = (selector) => main.querySelector(selector);
    this.main = main;
    this.view = one(".mesh");
    this.picked = one(".picked");
    this.said = one(".said");
    this.state = document.querySelector(".state");
    this.cut = new Set(); // links that are switched off
    this.chosen = { node: -1, link: null };
    one(".setting").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send({ set: event.target.elements.change.value });
    });
    this.source = new EventSource("events");
    this.source.onmessage = ({ data }) => this.heard(JSON.parse(data));
    this.source.onerror = () => { if (!this.ended) this.state.textContent = "The network does not answer."; };
  }

  heard(told) {
    if (told.silent !== undefined) {
      this.state.textContent = told.silent;
      return;
    }
    if (told.ended !== undefined) {
      this.ended = true;
      this.source.close();
      this.state.textContent = "The network has ended.";
      return;
    }
    if (!this.mesh) this.begin(told.nodes);
    this.told = told;
    this.now = { us: told.time_s * 1e6, at: performance.now(), speed: told.speed };
    const { present } = this;
    present.add(told.seen, this.now.us);
    present.buffers = new Map(told.nodes.map(({ node, queued, reassembly_bytes }) => [node, { queued, octets: reassembly_bytes, forwarding: 0 }]));
    this.cut = new Set(told.cut.map(([one, other]) => `${one} ${other}`));
    if (!(told.time_s < this.drawnUntil)) { // the shades of the links, once a second
      present.links = [...worst(told.links.filter(({ to }) => to !== null).map(({ from, to, frames, received }) => [from, to, received / frames]))];
      this.mesh.isStill = false;
      this.drawnUntil = told.time_s + told.speed;
    }
    const { sessions, datagrams, frames } = told;
    const lost = Object.values(datagrams.lost).reduce((a, b) => a + b, 0);
    this.state.textContent = `${told.time_s.toFixed(1)} s: ${countOf(sessions.open, "session")} open, ${sessions.completed} completed, ${sessions.failed} failed; `
      + `${countOf(datagrams.sent, "datagram")} sent, ${datagrams.delivered} delivered, ${lost} lost; ${countOf(frames, "frame")} on the air`;
    const reasons = Object.entries(datagrams.lost).map(([reason, count]) => `${reason.replaceAll("_", " ")} ${count}`);
    document.querySelector(".lost").textContent = reasons.length ? `Lost datagrams: ${reasons.join(", ")}` : "";
    this.write();
  }

  begin(nodes) {
    this.present = new Present(nodes);
    this.mesh = new Mesh(this.view.querySelector("canvas"), this.present);
    this.listenToMesh();
    this.follow(this.view, this.mesh);
    const draw = () => {
      this.draw();
      if (!this.ended) requestAnimationFrame(draw);
    };
    requestAnimationFrame(draw);
  }

  layOut() {
    this.mesh.resize(this.view.clientWidth, this.view.clientHeight);
  }

  redraw() {} // it is drawn again all the time

  draw() {
    if (!this.now) return;
    const us = this.now.us + (performance.now() - this.now.at) * 1e3 * this.now.speed - SHOWS_US * this.now.speed;
    this.mesh.draw(us, FADES_S * 1e6 * this.now.speed, { node: this.chosen.node, frame: -1 });
    const { context: c, px, py, radius, colours } = this.mesh;
    c.strokeStyle = colours.bad;
    c.lineWidth = 3;
    for (const { node, on } of this.told.nodes) if (!on) this.mesh.cross(px[node], py[node], radius);
    for (const link of this.cut) {
      const [a, b] = link.split(" ").map(Number);
      this.mesh.cross((px[a] + px[b]) / 2, (py[a] + py[b]) / 2, 8);
    }
    if (this.chosen.link) {
      const [a, b] = this.chosen.link.split(" ").map(Number);
      c.strokeStyle = colours.accent;
      c.beginPath();
      c.moveTo(px[a], py[a]);
      c.lineTo(px[b], py[b]);
      c.stroke();
    }
  }

  // ---- words

  write() {
    const { open, links, time_s } = this.told;
    const rows = (table, values) => {
      const headings = [...this.main.querySelectorAll(`${table} thead th`)].map((heading) => heading.textContent);
      this.main.querySelector(`${table} tbody`).replaceChildren(...values.map((cells) => {
        const row = element("tr");
        row.append(...cells.map((cell, i) => element(i ? "td" : "th", cell, i ? { "data-label": headings[i] } : { scope: "row" })));
        return row;
      }));
    };
    rows(".sessions", open.slice(0, MOST_ROWS_LISTED).map(({ session, node, state, time_s: began, client }) =>
      [session, node, state, (time_s - began).toFixed(1), client ?? "emulated"]));
    const busy = [...links].sort((a, b) => b.frames - a.frames).slice(0, MOST_ROWS_LISTED);
    rows(".links", busy.map(({ from, to, frames, received }) => [`${from} → ${to ?? "all"}`, frames, `${((100 * received) / frames).toFixed(1)} %`]));
    if (this.chosen.node >= 0 || this.chosen.link) this.describe();
  }

  // The buttons stay the same elements, so that a key or a click is never lost.
  describe() {
    const { node, link } = this.chosen, key = node >= 0 ? `node ${node}` : `link ${link}`;
    const told = this.told.nodes[node], isOn = link ? !this.cut.has(link) : told.on;
    if (this.described !== key) {
      this.described = key;
      const button = element("button", "", { type: "button" });
      button.addEventListener("click", () => this.toggle());
      this.picked.replaceChildren(element("strong", link ? `link between node ${link.replace(" ", " and node ")}` : key), element("p"), button);
    }
    const [, words, button] = this.picked.children;
    words.textContent = link ? this.linkWords(link)
      : `${told.on ? "on" : "switched off"}; ${countOf(told.queued, "frame")} in its queue, ${countOf(told.reassembly_bytes, "octet")} in reassembly, ${countOf(told.sessions, "session")}`;
    button.textContent = isOn ? "Switch off" : "Switch on";
  }

  linkWords(link) {
    const [a, b] = link.split(" ").map(Number);
    const of = (from, to) => {
      const found = this.told.links.find((one) => one.from === from && one.to === to);
      return found ? `${found.received} of ${found.frames} frames arrived from ${from} to ${to}` : `no frame from ${from} to ${to}`;
    };
    return `${of(a, b)}; ${of(b, a)}`;
  }

  // ---- what the reader does

  choose(chosen) {
    this.chosen = { node: -1, link: null, ...chosen };
    if (this.chosen.node >= 0 || this.chosen.link) {
      this.describe();
      this.said.textContent = this.picked.firstChild.textContent; // for a screen reader, once
    } else {
      this.described = null;
      this.picked.replaceChildren(element("p", "Nothing is chosen."));
    }
  }

  toggle() {
    const { node, link } = this.chosen;
    if (link) return this.send({ link: link.split(" ").map(Number), on: this.cut.has(link) });
    return this.send({ node, on: !this.told.nodes[node].on });
  }

  async send(command) {
    const answer = await fetch("command", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(command) })
      .then((response) => response.json()).catch(() => ({ error: "The network does not answer." }));
    this.said.textContent = answer.error ?? "Done.";
    this.said.classList.toggle("failed", answer.error !== undefined);
  }

  // The pairs of nodes that have exchanged frames, or are parent and child.
  pairs() {
    const pairs = new Set();
    const add = (a, b) => pairs.add(a < b ? `${a} ${b}` : `${b} ${a}`);
    this.told.nodes.forEach(({ node, parent }) => { if (parent !== null) add(node, parent); });
    this.told.links.forEach(({ from, to }) => { if (to !== null) add(from, to); });
    return [...pairs];
  }

  listenToMesh() {
    this.mesh.listen(() => {}, ({ x, y }) => {
      const hit = this.mesh.hit(x, y, 0, 0), { px, py } = this.mesh;
      if (hit) return this.choose(hit);
      const far = (pair) => fromLine(x, y, px, py, ...pair.split(" ").map(Number));
      const [nearest] = this.pairs().sort((a, b) => far(a) - far(b));
      this.choose(nearest && far(nearest) < 12 ? { link: nearest } : {});
    });
    onKeys(this.view, {
      ArrowDown: () => this.walkNodes(1), ArrowUp: () => this.walkNodes(-1), ArrowRight: () => this.walkLinks(1), ArrowLeft: () => this.walkLinks(-1),
      "+": () => this.mesh.zoom(1.5), "=": () => this.mesh.zoom(1.5), "-": () => this.mesh.zoom(1 / 1.5), 0: () => this.mesh.zoom(1e-9), Escape: () => this.choose({}),
    });
  }

  walkNodes(by) {
    const count = this.told.nodes.length;
    this.choose({ node: this.chosen.node < 0 ? (by > 0 ? 0 : count - 1) : (this.chosen.node + by + count) % count });
  }

  walkLinks(by) {
    const pairs = this.pairs(), at = pairs.indexOf(this.chosen.link);
    if (pairs.length) this.choose({ link: pairs[at < 0 ? 0 : (at + by + pairs.length) % pairs.length] });
  }
}

const running = Array.from(document.querySelectorAll("main.running"), (main) => new Running(main));

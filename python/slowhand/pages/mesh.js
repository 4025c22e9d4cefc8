// Draws the mesh at a time: nodes by what their radios do, links by their delivery ratio, frames where they are.

const MOST_ROWS_OF_LEAVES = 36; // With more leaves the tree is drawn around its root.
const LABELLED = 7; // Nodes of this radius in pixels or more have their number, queue and buffers beside them.
const QUEUE_DRAWN = 12; // frames
const FADES_S = 0.25; // A frame is seen for so long after its end, in seconds of the reader.
const MOST_DRAWN = 500; // frames at a time
const BUFFER_PX = 1 / 64; // The length of the bar of a reassembly buffer, in pixels an octet: 1,280 octets are 20 pixels.

// The place of each node, in steps: a tree from left to right, or around its root. The Internet has the last place.
function placesOf(nodes) {
  const count = nodes.length, children = nodes.map(() => []), depth = new Int32Array(count);
  nodes.forEach(({ parent }, node) => { if (parent !== null) children[parent].push(node); });
  const row = new Float64Array(count), order = [], roots = nodes.flatMap(({ parent }, node) => (parent === null ? [node] : []));
  for (let stack = [...roots].reverse(); stack.length;) {
    const node = stack.pop();
    order.push(node);
    for (const child of children[node]) depth[child] = depth[node] + 1;
    for (let i = children[node].length - 1; i >= 0; i--) stack.push(children[node][i]);
  }
  let leaves = 0;
  for (const node of order) if (!children[node].length) row[node] = leaves++;
  for (const node of order.toReversed())
    if (children[node].length) row[node] = (row[children[node][0]] + row[children[node].at(-1)]) / 2;
  const x = new Float64Array(count + 1), y = new Float64Array(count + 1);
  const round = leaves > MOST_ROWS_OF_LEAVES, crowd = Math.max(1, Math.ceil(Math.sqrt(leaves) / 6));
  for (let node = 0; node < count; node++) {
    if (round) {
      // Neighbours on a crowded ring stand in rows, one behind the other.
      const angle = ((row[node] + 0.5) / leaves) * 2 * Math.PI, far = depth[node] && depth[node] * crowd + (node % crowd) * 0.8;
      [x[node], y[node]] = [far * Math.cos(angle), far * Math.sin(angle)];
    } else [x[node], y[node]] = [depth[node], row[node] - (leaves - 1) / 2];
  }
  const edge = x.reduce((a, b) => Math.min(a, b), 0);
  [x[count], y[count]] = [edge - 1, round ? 0 : y[roots[0] ?? 0]];
  return { x, y };
}

class Mesh extends Drawing {
  constructor(canvas, world) {
    super(canvas);
    this.world = world;
    this.still = document.createElement("canvas"); // what does not move
    const { x, y } = placesOf(world.nodes);
    [this.x, this.y] = [x, y];
    this.hosts = world.nodes.length + (world.internet < 0 ? 0 : 1);
    this.zoomed = 1;
    this.moved = { x: 0, y: 0 };
  }

  readColours() {
    super.readColours();
    this.isStill = false;
  }

  resize(width, height) {
    super.resize(width, height, [this.still]);
    this.place();
  }

  zoom(factor, at = { x: this.width / 2, y: this.height / 2 }) {
    const next = Math.min(Math.max(this.zoomed * factor, 1), 400), by = next / this.zoomed;
    this.moved.x = (this.moved.x - (at.x - this.width / 2)) * by + (at.x - this.width / 2);
    this.moved.y = (this.moved.y - (at.y - this.height / 2)) * by + (at.y - this.height / 2);
    this.zoomed = next;
    if (next === 1) this.moved = { x: 0, y: 0 };
    this.place();
  }

  // Dragging moves the mesh, which calls `moves`; a click calls `picks` with its place.
  listen(moves, picks) {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      drag = { ...this.pointed(event), moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const { x, y } = this.pointed(event);
      drag.moved ||= Math.hypot(x - drag.x, y - drag.y) > 4;
      if (!drag.moved) return;
      this.moved.x += x - drag.x;
      this.moved.y += y - drag.y;
      [drag.x, drag.y] = [x, y];
      this.place();
      moves();
    });
    canvas.addEventListener("pointerup", (event) => {
      const was = drag;
      drag = null;
      if (was && !was.moved) picks(this.pointed(event));
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
  }

  // Where each host is, in pixels.
  place() {
    const margin = 42, { hosts, x, y } = this;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < hosts; i++) {
      [left, right] = [Math.min(left, x[i]), Math.max(right, x[i])];
      [top, bottom] = [Math.min(top, y[i]), Math.max(bottom, y[i])];
    }
    const across = (this.width - 2 * margin) / Math.max(right - left, 1e-9), down = (this.height - 2 * margin) / Math.max(bottom - top, 1e-9);
    const sx = Math.min(across, 220) * this.zoomed, sy = Math.min(down, 90) * this.zoomed;
    this.px = Float64Array.from({ length: hosts }, (_, i) => this.width / 2 + (x[i] - (left + right) / 2) * sx + this.moved.x);
    this.py = Float64Array.from({ length: hosts }, (_, i) => this.height / 2 + (y[i] - (top + bottom) / 2) * sy + this.moved.y);
    this.radius = Math.min(15, Math.max(1.2, Math.min(sx, sy) * 0.3));
    this.isStill = false;
  }

  isSeen(node) {
    const r = this.radius + 24;
    return this.px[node] > -r && this.px[node] < this.width + r && this.py[node] > -r && this.py[node] < this.height + r;
  }

  // Links and routes, which stay as they are until the view changes.
  drawStill() {
    const c = this.still.getContext("2d"), { colours, world, px, py } = this;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = colours.back;
    c.fillRect(0, 0, this.width, this.height);
    const isRoute = (from, to) => world.nodes[from].parent === to || world.nodes[to].parent === from;
    const linked = new Set(world.links.map(([from, to]) => `${from} ${to}`));
    const pairs = world.nodes.map(({ parent }, node) => [Math.min(node, parent ?? node), Math.max(node, parent ?? node), 1]);
    const links = [...world.links, ...pairs.filter(([from, to]) => from !== to && !linked.has(`${from} ${to}`))];
    const line = (from, to) => { c.moveTo(px[from], py[from]); c.lineTo(px[to], py[to]); };
    const thin = world.nodes.length > 400 ? 0.5 : 1;
    // Four shades: the fewer frames arrive, the more gaps a line has.
    const shades = [[0.95, []], [0.8, [9, 3]], [0.5, [5, 5]], [-1, [2, 6]]];
    for (const routes of [false, true]) for (const [place, [least, dashes]] of shades.entries()) {
      c.beginPath();
      for (const [from, to, pdr] of links) {
        if (isRoute(from, to) !== routes || (!this.isSeen(from) && !this.isSeen(to))) continue;
        if (pdr >= least && (place === 0 || pdr < shades[place - 1][0])) line(from, to);
      }
      c.setLineDash(dashes);
      c.strokeStyle = routes ? colours.soft : colours.line;
      c.lineWidth = routes ? 1.5 * thin : thin;
      c.stroke();
    }
    c.setLineDash([1, 4]);
    if (world.internet >= 0) {
      c.beginPath();
      line(0, world.internet);
      c.stroke();
    }
    c.setLineDash([]);
    this.isStill = true;
  }

  // The mesh at a time. What ended at most `glow` before is still seen, and fades. `shown` has the node and the frame that are chosen.
  draw(us, glow, shown) {
    if (!this.isStill) this.drawStill();
    const { context: c, world } = this;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.drawImage(this.still, 0, 0);
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.textAlign = "center";
    this.named = []; // where the names of frames stand
    this.drawNodes(us, shown);
    world.frames(us - glow, us, (i) => this.drawFrame(i, us, glow, i === shown.frame), MOST_DRAWN);
    world.crossingAt(us, (place, span) => this.drawCrossing(place, span, us));
    c.globalAlpha = 1;
  }

  drawNodes(us, shown) {
    const { context: c, colours, world, px, py, radius } = this, count = world.nodes.length;
    const fills = [colours.c1, colours.c2, colours.c4, colours.back], groups = [[], [], [], []];
    const states = world.radiosAt(us);
    for (let node = 0; node < count; node++) if (this.isSeen(node)) groups[states[node]].push(node);
    const labelled = radius >= LABELLED;
    for (const [state, nodes] of groups.entries()) {
      c.fillStyle = fills[state];
      c.strokeStyle = state === OFF ? colours.soft : colours.text;
      c.lineWidth = state === SENDS ? 3 : 1;
      if (radius < 3) {
        const r = state === OFF ? radius * 0.8 : radius * 1.6;
        if (state === OFF) c.fillStyle = colours.soft;
        for (const node of nodes) c.fillRect(px[node] - r, py[node] - r, 2 * r, 2 * r);
        continue;
      }
      c.beginPath();
      for (const node of nodes) {
        c.moveTo(px[node] + radius, py[node]);
        c.arc(px[node], py[node], radius, 0, 2 * Math.PI);
      }
      c.fill();
      c.stroke();
      if (labelled) for (const node of nodes) this.drawAround(node, us, state);
    }
    if (labelled) for (const { host, from_us, to_us } of world.data.computing) if (from_us <= us && us < to_us) this.drawComputing(host);
    if (world.internet >= 0) this.drawInternet();
    if (shown.node >= 0) {
      c.strokeStyle = colours.accent;
      c.lineWidth = 3;
      c.strokeRect(px[shown.node] - radius - 5, py[shown.node] - radius - 5, 2 * radius + 10, 2 * radius + 10);
    }
  }

  // The number of a node, the frames in its queue above it, its reassembly buffer below it.
  drawAround(node, us, state) {
    const { context: c, colours, world, px, py, radius } = this;
    c.fillStyle = state === OFF ? colours.text : "#000000"; // the other fills are bright in both schemes
    c.fillText(node, px[node], py[node] + 0.5);
    const { queued, octets, forwarding } = world.buffersAt(node, us);
    c.fillStyle = colours.c0;
    for (let i = 0; i < Math.min(queued, QUEUE_DRAWN); i++) c.fillRect(px[node] + radius + 4, py[node] + radius - 4 - 5 * i, 8, 4);
    if (queued > QUEUE_DRAWN) c.fillText(queued, px[node] + radius + 8, py[node] + radius - 8 - 5 * QUEUE_DRAWN);
    if (octets || forwarding) {
      const length = Math.max(4, octets * BUFFER_PX);
      c.fillStyle = colours.c3;
      c.fillRect(px[node] - length / 2, py[node] + radius + 4, length, 5);
    }
  }

  drawComputing(host) {
    const { context: c, colours, px, py, radius } = this;
    c.fillStyle = colours.c5;
    c.beginPath();
    const [x, y] = [px[host] - radius - 7, py[host] - radius];
    c.moveTo(x, y - 6);
    c.lineTo(x + 6, y);
    c.lineTo(x, y + 6);
    c.lineTo(x - 6, y);
    c.fill();
  }

  drawInternet() {
    const { context: c, colours, world, px, py } = this, [x, y] = [px[world.internet], py[world.internet]];
    c.fillStyle = colours.raised;
    c.strokeStyle = colours.soft;
    c.lineWidth = 1;
    c.beginPath();
    c.roundRect(x - 30, y - 12, 60, 24, 6);
    c.fill();
    c.stroke();
    c.fillStyle = colours.text;
    c.fillText("Internet", x, y + 0.5);
  }

  colourOf(i) {
    const { colours, world } = this;
    if (world.state[i] === LOST) return colours.bad;
    return world.carries(i) ? colours.c0 : colours.soft;
  }

  drawFrame(i, us, glow, isChosen) {
    const { context: c, world, px, py, radius } = this, from = world.sender[i], to = world.receiver[i];
    const length = world.to[i] - world.from[i], share = Math.min(1, (us - world.from[i]) / length);
    c.globalAlpha = isChosen || us <= world.to[i] ? 1 : Math.max(0, 1 - (us - world.to[i]) / Math.max(glow, 1));
    c.strokeStyle = c.fillStyle = isChosen ? this.colours.accent : this.colourOf(i);
    c.lineWidth = radius < 3 ? 1 : 2.5;
    c.beginPath();
    if (to < 0) {
      c.arc(px[from], py[from], radius + 3 + share * (radius + 14), 0, 2 * Math.PI);
      c.stroke();
      return;
    }
    if (!this.isSeen(from) && !this.isSeen(to)) return;
    const isLost = world.state[i] === LOST, reach = share * (isLost ? 0.65 : 1);
    const [x, y] = [px[from] + (px[to] - px[from]) * reach, py[from] + (py[to] - py[from]) * reach];
    c.moveTo(px[from], py[from]);
    c.lineTo(x, y);
    c.stroke();
    if (isLost && share === 1) {
      c.lineWidth = 2.5;
      this.cross(x, y, 5);
    } else if (radius >= 3) c.fillRect(x - 6, y - 4, 12, 8);
    if (radius >= LABELLED && us <= world.to[i]) this.drawName(world.frameName(i), x, y - 14);
  }

  drawCrossing(place, [from, to], us) {
    const { context: c, colours, world, px, py } = this, { to: receiver, name, loss } = world.datagrams[place];
    const share = (us - from) / Math.max(to - from, 1), internet = world.internet;
    const [begin, end] = receiver === internet ? [0, internet] : [internet, 0];
    const [x, y] = [px[begin] + (px[end] - px[begin]) * share, py[begin] + (py[end] - py[begin]) * share];
    c.globalAlpha = 1;
    c.fillStyle = loss && loss.host === internet ? colours.bad : colours.c0;
    c.fillRect(x - 6, y - 4, 12, 8);
    if (this.radius >= LABELLED) this.drawName(name, x, y - 14);
  }

  // A text beside what it names, if no other stands there.
  drawName(text, x, y) {
    const { context: c, colours } = this;
    if (this.named.some((other) => Math.abs(other.x - x) < 130 && Math.abs(other.y - y) < 13)) return;
    this.named.push({ x, y });
    c.lineWidth = 3;
    c.strokeStyle = colours.back;
    c.strokeText(text, x, y);
    c.fillStyle = colours.text;
    c.fillText(text, x, y);
  }

  // The thing at this point: a node, or a frame that is on the air or fades.
  hit(x, y, us, glow) {
    const near = Math.max(this.radius, 6) + 3;
    for (let node = 0; node < this.world.nodes.length; node++)
      if (Math.hypot(this.px[node] - x, this.py[node] - y) <= near) return { node };
    let found = -1;
    this.world.frames(us - glow, us, (i) => {
      const to = this.world.receiver[i];
      if (to >= 0 && fromLine(x, y, this.px, this.py, this.world.sender[i], to) < 9) found = i;
    });
    return found < 0 ? null : { frame: found };
  }
}

// The distance of a point from the line between two hosts.
function fromLine(x, y, px, py, a, b) {
  const [dx, dy] = [px[b] - px[a], py[b] - py[a]], length = dx * dx + dy * dy || 1;
  const share = Math.min(1, Math.max(0, ((x - px[a]) * dx + (y - py[a]) * dy) / length));
  return Math.hypot(px[a] + share * dx - x, py[a] + share * dy - y);
}

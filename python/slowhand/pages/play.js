// The network that moves: one time for the mesh, the sequence diagram, the words and the timeline.

const PASSES_S = 0.3; // A quiet time that is passed quickly takes so long, in seconds of the reader.
const QUIET_S = 0.5; // Silence of at least this long is passed, likewise.
const WRITES_S = 0.2; // Words and tables follow so often while time passes, likewise.
const MOST_NODES_LISTED = 12, MOST_FRAMES_LISTED = 8;
const SPEEDS = [0.001, 0.01, 0.1, 0.5, 1, 2, 10, 100];

class Playback extends Section {
  // `timeline` is that of the handshake which the page explains.
  constructor(section, data, timeline) {
    super();
    this.section = section;
    this.world = new World(data);
    this.timeline = timeline;
    this.explained = data.explanation;
    const one = (selector) => section.querySelector(selector);
    this.slider = one("input[type=range]");
    this.view = one(".mesh");
    this.strip = one(".strip");
    this.words = one(".now");
    this.chosenBox = one(".picked");
    this.list = one(".onair");
    this.table = one(".energy tbody");
    this.headings = [...section.querySelectorAll(".energy thead th")].map((heading) => heading.textContent);
    this.mesh = new Mesh(one(".mesh canvas"), this.world);
    this.shown = { node: -1, frame: -1 };
    this.us = Math.min(micro(this.explained.start_s), this.world.end);
    this.speed = 1;
    this.plays = false;
    this.wrote = -Infinity;
    const handshake = data.handshakes.findIndex(({ client }) => client === this.explained.client);
    this.sequence = new Sequence(one(".sequence svg"), this.world, handshake, (us) => this.seek(us), section.querySelector(".sequence").id);
    this.sequence.listen(one(".sequence"));
    one(".sequence .note").textContent = this.sequence.left ? `and ${countOf(this.sequence.left, "more datagram")}` : "";
    one(".limits").textContent = this.limits(data);
    if (!this.world.listens) one(".energy caption").textContent = "Until the end of the last handshake, with the processor";
    this.slider.max = this.world.end;
    one("select").replaceChildren(...SPEEDS.map((speed) => element("option", `${speed}×`, { value: speed, ...(speed === 1 && { selected: "" }) })));
    this.listenToControls();
    this.listenToMesh();
    this.follow(this.view, this.mesh);
    timeline.section.addEventListener("chosen", ({ detail }) => this.seek(detail), { signal: this.ends.signal });
  }

  discard() {
    this.plays = false;
    super.discard();
  }

  limits(data) {
    const said = [];
    if (data.without_listening) said.push("Radios that listen in vain are not known here, there are too many intervals: so neither is the energy until a time.");
    if (!data.octets.length && this.world.count) said.push("The bytes of frames are not kept: there are too many frames.");
    return said.join(" ");
  }

  layOut() {
    this.mesh.resize(this.view.clientWidth, this.view.clientHeight);
    this.drawStrip();
    this.redraw();
  }

  // ---- time

  // The time that is seen as one instant when time passes.
  glow() { return this.plays || this.shown.frame < 0 ? FADES_S * 1e6 * this.speed : 0; }

  seek(us) {
    this.us = Math.min(Math.max(us, 0), this.world.end);
    this.wrote = -Infinity;
    this.redraw();
  }

  play(plays = !this.plays) {
    if (plays && this.us >= this.world.end) this.us = 0;
    this.plays = plays;
    this.shown.frame = -1;
    const button = this.section.querySelector("[data-act=play]");
    button.textContent = plays ? "Pause" : "Play";
    button.setAttribute("aria-pressed", plays);
    this.before = performance.now();
    this.wrote = -Infinity;
    this.redraw();
  }

  // Lets the time of the reader pass in the world.
  pass(now) {
    const took = Math.min(Math.max((now - this.before) / 1000, 0), 0.1);
    this.before = now;
    const next = this.world.after(this.us), begins = next < this.world.count ? this.world.from[next] : this.world.end;
    const quiet = begins - this.us, passes = this.section.querySelector(".quiet").checked && this.isQuiet();
    const speed = passes && quiet > QUIET_S * 1e6 * this.speed ? Math.max(this.speed, quiet / 1e6 / PASSES_S) : this.speed;
    this.us = Math.min(this.us + took * 1e6 * speed, passes ? Math.max(begins, this.us) : Infinity, this.world.end);
    if (begins <= this.us) this.us = Math.min(this.us + 1, this.world.end); // the frame that begins now is seen
    if (this.us >= this.world.end) this.play(false);
  }

  isQuiet() {
    let quiet = true;
    this.world.frames(this.us - FADES_S * 1e6 * this.speed, this.us, () => { quiet = false; });
    this.world.crossingAt(this.us, () => { quiet = false; });
    return quiet;
  }

  // The next or previous frame on the air, in the middle of its time.
  step(by) {
    const { count, from, to } = this.world;
    let i = this.shown.frame >= 0 ? this.shown.frame + by : by > 0 ? this.world.after(this.us) : this.world.after(this.us) - 1;
    i = Math.min(Math.max(i, 0), count - 1);
    if (!count) return;
    if (this.plays) this.play(false);
    this.chooseFrame(i);
    this.seek((from[i] + to[i]) / 2);
  }

  // ---- what is drawn

  redraw() {
    this.drawing ??= requestAnimationFrame((now) => {
      this.drawing = null;
      if (this.plays) this.pass(now);
      this.mesh.draw(this.us, this.glow(), this.shown);
      if (document.activeElement !== this.slider || this.plays) this.slider.value = this.us;
      if (now - this.wrote > WRITES_S * 1000) {
        this.wrote = now;
        this.write();
      }
      if (this.plays) this.redraw();
    });
  }

  // The number of frames over time; those that were lost in another colour.
  drawStrip() {
    const { world, strip } = this, width = strip.clientWidth, height = strip.clientHeight, ratio = window.devicePixelRatio || 1;
    [strip.width, strip.height] = [width * ratio, height * ratio];
    const all = new Uint32Array(width + 1), lost = new Uint32Array(width + 1);
    for (let i = 0; i < world.count; i++) {
      const x = Math.floor((world.from[i] / world.end) * width);
      all[x] += 1;
      if (world.state[i] === LOST) lost[x] += 1;
    }
    const most = all.reduce((a, b) => Math.max(a, b), 1), c = strip.getContext("2d"), style = getComputedStyle(strip);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    for (const [counts, colour] of [[all, "--c4"], [lost, "--bad"]]) {
      c.fillStyle = style.getPropertyValue(colour);
      counts.forEach((count, x) => { if (count) c.fillRect(x, height, 1, -Math.max(1, (count / most) * height)); });
    }
  }

  // Everything in words and numbers.
  write() {
    const { us, world } = this, text = `${(us / 1e6).toFixed(3)} s`;
    this.section.querySelector(".clock").textContent = `${text} of ${(world.end / 1e6).toFixed(3)} s`;
    this.slider.setAttribute("aria-valuetext", text);
    const y = this.sequence.show(us), box = this.section.querySelector(".sequence");
    if (this.plays && (y < box.scrollTop + 40 || y > box.scrollTop + box.clientHeight - 40)) box.scrollTop = y - box.clientHeight / 2;
    this.timeline.point(us, this.plays);
    this.words.textContent = this.wordsAt(us);
    this.writeFrames();
    this.writeTable();
    this.writeChosen();
  }

  // Where the time of the handshake goes now.
  wordsAt(us) {
    const { path, parts, start_s, end_s, summary, client } = this.explained;
    if (us < micro(start_s)) return `Client ${client} has not begun.`;
    if (us >= micro(end_s)) return `${outcomeOf(this.explained)} ${summary}.`;
    const piece = path.find(({ from_s, to_s }) => micro(from_s) <= us && us < micro(to_s));
    return piece ? `Now: ${parts[piece.part].text} (${seconds(piece.to_s - piece.from_s)} of ${seconds(parts[piece.part].seconds)} for this in all).` : "";
  }

  writeFrames() {
    const frames = [], since = this.plays ? this.us - this.glow() : this.us;
    this.world.frames(since, this.us, (i) => frames.push(i), MOST_DRAWN);
    this.section.querySelector(".just").textContent = this.plays ? "Just now on the air" : "On the air";
    const key = `${frames.length} ${frames.at(-1)}`;
    if (key === this.listed) return; // the buttons stay, so that no click is lost
    this.listed = key;
    const shown = frames.slice(-MOST_FRAMES_LISTED).map((i) => {
      const item = element("li");
      item.append(element("button", this.world.words(i), { type: "button", "data-frame": i }));
      return item;
    });
    if (frames.length > shown.length) shown.push(element("li", `and ${frames.length - shown.length} others`));
    this.list.replaceChildren(...(shown.length ? shown : [element("li", "nothing")]));
  }

  writeTable() {
    const { world, us } = this, energies = world.nodes.map((_, node) => (world.listens ? world.radioEnergy(node, us) : world.nodes[node].energy_mj));
    const nodes = energies.map((_, node) => node);
    if (nodes.length > MOST_NODES_LISTED) nodes.sort((a, b) => energies[b] - energies[a]).length = MOST_NODES_LISTED;
    const most = nodes.reduce((a, node) => Math.max(a, energies[node]), 1e-9);
    while (this.table.rows.length < nodes.length) this.table.append(this.energyRow());
    nodes.forEach((node, place) => {
      const { cells } = this.table.rows[place], { queued, octets } = world.buffersAt(node, us);
      const [button, meter] = [cells[0].firstChild, cells[3].firstChild];
      button.textContent = `node ${node}`;
      button.dataset.node = node;
      cells[1].textContent = RADIO[world.radioAt(node, us)];
      cells[2].textContent = world.listens ? `${fixed(us ? 100 * (1 - world.radioTimes(node, us)[OFF] / us) : 0, 2)} %` : "not known";
      [meter.max, meter.value] = [most, energies[node]];
      meter.setAttribute("aria-label", `energy of node ${node}`);
      cells[3].lastChild.textContent = ` ${fixed(energies[node], 3)}`;
      cells[4].textContent = queued;
      cells[5].textContent = octets;
    });
    const left = world.nodes.length - nodes.length;
    this.section.querySelector(".others").textContent = left ? `Those that used most; ${left.toLocaleString("en")} other nodes are not listed.` : "";
  }

  // The elements of a row stay, so that no click and no focus is lost.
  energyRow() {
    const row = element("tr"), head = element("th", "", { scope: "row" });
    head.append(element("button", "", { type: "button" }));
    row.append(head);
    this.headings.slice(1).forEach((heading, place) => row.append(element("td", "", { "data-label": heading, ...(place !== 2 && place && { class: "number" }) })));
    row.cells[3].append(element("meter"), "");
    return row;
  }

  // ---- choosing

  chooseFrame(frame) { this.choose({ node: -1, frame }); }
  chooseNode(node) { this.choose({ node, frame: -1 }); }

  choose(shown) {
    this.shown = shown;
    this.wrote = -Infinity;
    this.redraw();
  }

  writeChosen() {
    const { node, frame } = this.shown, key = `${node} ${frame} ${node >= 0 ? this.us : ""}`;
    if (key === this.written) return;
    this.written = key;
    this.chosenBox.setAttribute("aria-live", this.plays ? "off" : "polite"); // a reader would never be done
    const parts = frame >= 0 ? this.describeFrame(frame) : node >= 0 ? this.describeNode(node) : [element("p", "Choose a node or a frame to see what it holds.")];
    this.chosenBox.replaceChildren(...parts);
  }

  describeFrame(i) {
    const { world } = this, { frames, octets } = world.data, carried = world.carried(i);
    const rows = [
      ["from", `node ${world.sender[i]}`], ["to", world.receiverName(i)],
      ["time", `${time(world.from[i])} to ${time(world.to[i])}, ${duration(world.to[i] - world.from[i])}`],
      ["channel", frames.channel[i]], ["attempt", frames.attempt[i]], ["octets", frames.octets[i]],
    ];
    const isData = this.world.frameName(i).startsWith("data,") || this.world.frameName(i) === "data";
    if (carried) rows.push([isData ? "carries" : "belongs to", `${carried.name}, ${world.hostName(carried.from)} to ${world.hostName(carried.to)}`]);
    if (frames.comment[i] !== null) rows.push(["said of it", world.texts[frames.comment[i]]]);
    const parts = [element("strong", world.frameName(i)), described(rows)];
    const { decoded } = world.data;
    if (decoded.frames[i]) parts.push(element("pre", decoded.frames[i].map((line) => decoded.lines[line]).join("\n"), { tabindex: 0, class: "decoded" }));
    if (octets[i]) parts.push(element("pre", dump(octets[i]), { tabindex: 0, class: "bytes" }));
    return parts;
  }

  describeNode(node) {
    const { world, us } = this, { device, parent, energy_mj } = world.nodes[node], times = world.radioTimes(node, us);
    const { queued, octets, forwarding } = world.buffersAt(node, us);
    const share = (of) => (!world.listens && of === LISTENS ? "not known" : us ? `${seconds(times[of] / 1e6)} (${fixed((100 * times[of]) / us, 2)} %)` : "0 s");
    const rows = [
      ["device", device], ["next hop", parent === null ? "none: it is the border router" : `node ${parent}`],
      ["radio", RADIO[world.radioAt(node, us)] + (world.computesAt(node, us) ? "; the processor computes" : "")],
      ["it has sent", share(SENDS)], ["received", share(RECEIVES)], ["listened in vain", share(LISTENS)],
      ...(world.listens ? [["its radio used", `${fixed(world.radioEnergy(node, us), 3)} mJ until now`]] : []),
      ["the node uses", `${fixed(energy_mj, 3)} mJ until the end of the last handshake, with its processor`],
      ["queue", countOf(queued, "frame")], ["in reassembly", countOf(octets, "octet")], ["forwarding buffers", forwarding],
    ];
    return [element("strong", `node ${node}`), described(rows)];
  }

  // ---- what the reader does

  listenToControls() {
    const acts = { play: () => this.play(), back: () => this.step(-1), forth: () => this.step(1), zoomIn: () => this.zoom(1.5), zoomOut: () => this.zoom(1 / 1.5),
      help: () => this.section.querySelector("dialog").showModal() };
    this.acts = acts;
    this.section.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-act], [data-frame], [data-node]");
      if (!button) return;
      const { act, frame, node } = button.dataset;
      if (act) acts[act]();
      else if (frame !== undefined) {
        this.play(false);
        this.chooseFrame(Number(frame));
        this.seek((this.world.from[frame] + this.world.to[frame]) / 2);
      } else this.chooseNode(Number(node));
    });
    this.slider.addEventListener("input", () => {
      this.shown.frame = -1;
      this.seek(Number(this.slider.value));
    });
    // An arrow is a tenth of a second of the reader, not a microsecond.
    this.slider.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
      if (!by || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.nudge(by);
      this.slider.value = this.us;
    });
    this.section.querySelector("select").addEventListener("change", ({ target }) => { this.speed = Number(target.value); this.redraw(); });
  }

  zoom(factor, at) {
    this.mesh.zoom(factor, at);
    this.redraw();
  }

  listenToMesh() {
    this.mesh.listen(() => this.redraw(), ({ x, y }) => {
      const hit = this.mesh.hit(x, y, this.us, this.glow());
      if (hit?.frame !== undefined) this.chooseFrame(hit.frame);
      else this.chooseNode(hit?.node ?? -1);
    });
    this.mesh.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !this.view.contains(document.activeElement)) return; // the page scrolls
      event.preventDefault();
      this.zoom(1.0015 ** -event.deltaY, this.mesh.pointed(event));
    }, { passive: false });
    onKeys(this.view, {
      " ": this.acts.play, n: this.acts.forth, p: this.acts.back, "+": this.acts.zoomIn, "=": this.acts.zoomIn, "-": this.acts.zoomOut,
      ArrowRight: () => this.nudge(1), ArrowLeft: () => this.nudge(-1), ArrowDown: () => this.walk(1), ArrowUp: () => this.walk(-1),
      Home: () => this.seek(0), End: () => this.seek(this.world.end), 0: () => this.zoom(1e-9), Escape: () => this.chooseNode(-1), "?": this.acts.help,
    });
  }

  // A tenth of a second of the reader.
  nudge(by) {
    this.shown.frame = -1;
    this.seek(this.us + by * 1e5 * this.speed);
  }

  // The next or previous node.
  walk(by) {
    const count = this.world.nodes.length;
    this.chooseNode((this.shown.node + by + count + (this.shown.node < 0 && by < 0 ? 1 : 0)) % count);
  }
}

// Octets as in a hex dump: 16 a line.
function dump(digits) {
  const lines = [];
  for (let at = 0; at < digits.length; at += 32)
    lines.push(`${(at / 2).toString(16).padStart(4, "0")}  ${digits.slice(at, at + 32).match(/../g).join(" ")}`);
  return lines.join("\n");
}

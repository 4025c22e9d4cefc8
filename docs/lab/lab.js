// The page: what the reader does goes to the worker, and what the worker says is shown.

const PATIENCE_MS = 1500; // A world that takes longer than this is ended with its worker.
const one = (id) => document.getElementById(id);

class Page {
  constructor() {
    this.state = stateOf(location.hash);
    this.side = 0; // the configuration that is edited
    this.number = 0; // of the job
    this.told = []; // what the module told of each side
    this.forget();
    this.controls = new Controls(one("controls"), (control, value) => this.setControl(control, value));
    for (const id of ["text", "set"]) new Completion(one(id), id === "text");
    this.listen();
    this.startWorker();
  }

  // ---- the worker

  // `begins`: it starts with the scenarios as they are. Otherwise it waits for what the reader does next.
  startWorker(begins = true) {
    this.ready = false;
    this.begins = begins;
    this.worker?.terminate();
    const code = new Blob([one("worker").textContent], { type: "text/javascript" });
    const address = URL.createObjectURL(code);
    this.worker = new Worker(address);
    this.worker.onmessage = ({ data }) => this.heard(data);
    this.worker.onerror = (event) => this.complain(`The laboratory did not start: ${event.message || "the browser refuses it"}`);
    this.worker.postMessage({ do: "load", packed: one("module").textContent.trim() });
  }

  heard(said) {
    if (said.job !== undefined && said.job !== this.number) return; // of a scenario that has changed since
    this[`heard_${said.say}`](said);
    if (this.running) this.waitFor();
  }

  heard_ready({ stacks, took }) {
    this.ready = true;
    document.documentElement.dataset.readyMs = took.toFixed(0);
    if (!this.stacks) {
      this.stacks = stacks;
      this.controls.build(stacks);
      this.showSides();
    }
    if (this.begins) this.start();
  }

  heard_opened({ side, index, told }) {
    const chosen = this.candidates[side][index];
    if (index) { // the library does not have the suite of the RFC
      this.state.sides[side].set = chosen;
      this.keepAddress();
      this.showCommands();
    }
    this.told[side] = told;
    if (side === this.side) this.showSide();
    this.complain("");
  }

  heard_refused({ side, error }) {
    const of = this.state.sides.length > 1 ? `${"AB"[side]}: ` : "";
    this.complain(of + error.message);
    this.setRunning(false);
    this.say("");
  }

  heard_progress({ done, rows, summaries, difference, running, worked }) {
    this.done = done;
    rows.forEach((of, side) => { for (const row of of) this.rows[side].push(row); });
    this.setRunning(running);
    const worlds = `${countOf(done, "world")} of ${this.state.count.toLocaleString("en")}`;
    this.say(`${worlds}${this.state.sides.length > 1 ? " of each" : ""} in ${fixed(worked / 1000, 2)} s`);
    this.showSummaries(summaries, difference);
    showDistribution(one("distribution"), this.rows);
    document.documentElement.dataset.done = done;
    if (!running) one("told").textContent = one("outcomes").textContent; // for a screen reader, once
    if (!running && !this.explained) this.explain();
  }

  heard_explained({ side, document: found }) {
    this.explained = true;
    this.shown = { side, seed: found.seed, client: found.client };
    const where = `${this.state.sides.length > 1 ? `Configuration ${"AB"[side]}, s` : "S"}eed ${found.seed}, client ${found.client}`;
    one("which").textContent = where;
    const section = handshakeSection(found);
    this.timeline?.discard();
    one("handshake").replaceChildren(section);
    this.timeline = new Timeline(section);
    one("capture").disabled = one("play").disabled = false;
    this.stopPlaying();
    document.documentElement.dataset.explainedMs = (performance.now() - this.asked).toFixed(0);
  }

  heard_played({ side, document: played }) {
    one("play").disabled = false;
    const { seed, explanation: { client } } = played;
    if (side !== this.shown.side || seed !== this.shown.seed || client !== this.shown.client) return; // another is shown since
    this.stopPlaying();
    const section = one("play-template").content.cloneNode(true).querySelector("section");
    section.querySelector("[autofocus]").removeAttribute("autofocus"); // the reader is elsewhere
    one("playback").replaceChildren(section);
    this.playback = new Playback(section, played, this.timeline);
    section.scrollIntoView();
    section.querySelector(".mesh").focus({ preventScroll: true });
  }

  // The world that moves is that of the handshake that is shown.
  stopPlaying() {
    this.playback?.discard();
    this.playback = null;
    one("playback").replaceChildren();
  }

  heard_captured({ side, seed, digits }) {
    const octets = Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    save(`${this.state.sides[side].name}-seed-${seed}.pcapng`, octets, "application/vnd.tcpdump.pcap");
  }

  heard_broken({ message }) {
    const what = this.ready ? "An error in slowhand or in a library; the laboratory has started anew." : "The laboratory did not start.";
    this.complain(`${what} ${message}`);
    this.forget();
    this.setRunning(false);
    this.say("");
  }

  // ---- work

  // Begins anew, with the scenarios as they are. `candidates`: lines that may be set instead, for the side that is edited.
  start(candidates = null) {
    this.keepAddress();
    this.showCommands();
    if (!this.ready) return;
    this.asked = performance.now();
    this.number += 1;
    this.forget();
    this.candidates = this.state.sides.map(({ set }, side) => (candidates && side === this.side ? candidates : [set]));
    this.worker.postMessage({
      do: "start", number: this.number, keys: KEYS, seed: this.state.seed, count: this.state.count,
      sides: this.candidates.map((sets, side) => sets.map((set) => sourcesOf(this.state.sides[side], set))),
      shown: this.chosenHandshake(),
    });
    this.setRunning(true);
    this.waitFor();
  }

  // Nothing is known of the scenarios as they are.
  forget() {
    this.rows = this.state.sides.map(() => []);
    this.done = 0;
    this.explained = false;
  }

  // A worker that says nothing is in a long world, which can only be ended with it.
  waitFor() {
    clearTimeout(this.patience);
    this.isLong = false;
    this.patience = setTimeout(() => {
      this.isLong = true;
      one("stop").textContent = "End this world";
    }, PATIENCE_MS);
  }

  stopOrGo() {
    if (this.isLong) this.endWorld();
    else if (this.running) this.worker.postMessage({ do: "pause" });
    else if (this.done < this.state.count && this.rows[0]?.length) {
      this.worker.postMessage({ do: "go", count: this.state.count });
      this.setRunning(true);
    } else this.start();
  }

  endWorld() {
    this.number += 1;
    this.forget();
    this.setRunning(false);
    this.complain("The world was ended: it took too long for a page. Take a smaller network, or run it on your computer.");
    this.startWorker(false);
  }

  // The handshake that is shown; null while it is not known.
  chosenHandshake() {
    const { show, seed } = this.state;
    if (show === "first") return { side: this.side, seed, client: null };
    const rows = this.rows[this.side] ?? [];
    const time = (row) => (row.outcome === "completed" ? row.duration_s : Infinity); // one that failed is slower than all others
    const sorted = rows.filter((row) => show === "slowest" || row.outcome === "completed").sort((a, b) => time(a) - time(b));
    const row = show === "median" ? sorted[(sorted.length - 1) >> 1] : sorted.find((row) => time(row) === time(sorted.at(-1)));
    return row ? { side: this.side, seed: row.seed, client: row.client } : null;
  }

  explain() {
    const shown = this.chosenHandshake();
    if (!shown) return;
    this.explained = true;
    this.asked = performance.now();
    this.worker.postMessage({ do: "explain", job: this.number, shown });
  }

  // ---- what the reader changes

  setControl(control, value) {
    const side = this.state.sides[this.side];
    const candidates = followings(control, side.set, value, this.told[this.side]);
    side.set = candidates[0];
    one("set").value = side.set.join("\n");
    one("reset").disabled = false;
    this.start(candidates);
  }

  setText() {
    const side = this.state.sides[this.side], text = one("text").value;
    side.text = text === FACTS.scenarios[side.name] ? null : text;
    side.set = one("set").value.split("\n").map((line) => line.trim()).filter(Boolean);
    one("reset").disabled = false;
    this.start();
  }

  setScenario(name) {
    this.state.sides[this.side] = freshSide(name);
    this.showSide();
    this.start();
  }

  compare(compares) {
    const { sides } = this.state;
    if (compares && sides.length < 2) sides.push(structuredClone(sides[0]));
    if (!compares) sides.length = 1;
    this.told.length = sides.length;
    this.side = compares ? 1 : 0;
    this.showSides();
    this.start();
  }

  edit(side) {
    this.side = side;
    this.showSides();
  }

  // ---- what is shown

  showSides() {
    const compares = this.state.sides.length > 1;
    one("compares").checked = compares;
    one("sides").hidden = !compares;
    one("legend").hidden = !compares;
    one(`edit-${"ab"[this.side]}`).checked = true;
    one("scenario-heading").textContent = compares ? `Configuration ${"AB"[this.side]}` : "Scenario";
    one("count").value = this.state.count;
    one("seed").value = this.state.seed;
    one("show").value = this.state.show;
    this.showSide();
  }

  // The side that is edited.
  showSide() {
    const side = this.state.sides[this.side], told = this.told[this.side];
    one("scenario").value = side.name;
    one("reset").disabled = side.text === null && !side.set.length;
    if (document.activeElement !== one("text")) one("text").value = textOf(side);
    if (document.activeElement !== one("set")) one("set").value = side.set.join("\n");
    if (!told) return;
    this.controls.show(told);
    const { session, devices, network, assumed } = told.about;
    one("about").textContent = `${session}. ${devices}: ${network}`;
    const named = Object.entries(assumed).filter(([, names]) => names.length);
    one("assumed").replaceChildren(...named.map(([device, names]) => element("li", `${device}: ${names.join(", ")}`)));
  }

  showSummaries(summaries, difference) {
    const named = (lines, side) => lines.map((line) => (summaries.length > 1 ? `${"AB"[side]}: ${line}` : line));
    const list = (id, lines) => {
      one(id).replaceChildren(...lines.map((line) => element("li", line)));
      one(`${id}-part`).hidden = !lines.length;
    };
    one("outcomes").replaceChildren(...summaries.map((summary, side) => element("p", named([outcomes(summary)], side)[0])));
    one("outcomes").classList.toggle("failed", summaries.some(({ completed }) => !completed));
    showTable(one("table"), summaries, difference);
    const pairs = difference?.duration_s?.pairs;
    one("difference").textContent = difference
      ? `B − A in the same worlds, as the mean of ${countOf(pairs ?? 0, "pair")}. Bold: the interval does not contain 0.` : "";
    list("failures", summaries.flatMap((summary, side) => named(failures(summary), side)));
    list("losses", summaries.flatMap((summary, side) => named(losses(summary), side)));
  }

  showCommands() {
    const { sides, seed, count: worlds } = this.state;
    one("command").textContent = sides.map((side, number) => commandOf(side, number, seed, worlds)).join("\n");
    one("python").textContent = pythonOf(sides, seed, worlds);
    const own = sides.map((side, number) => ({ side, number })).filter(({ side }) => side.text !== null);
    one("own-text").replaceChildren(...own.flatMap(({ side, number }) => {
      const button = element("button", `Save ${fileOf(side, number)}`, { type: "button" });
      button.addEventListener("click", () => save(fileOf(side, number), side.text, "text/plain"));
      return [button, " "];
    }));
    if (own.length) one("own-text").append("The text was changed: save it beside your command.");
  }

  setRunning(running) {
    this.running = running;
    if (!running) clearTimeout(this.patience);
    this.isLong = false;
    one("stop").textContent = running ? "Stop" : this.done < this.state.count ? "Go on" : "Again";
    document.documentElement.dataset.running = running;
  }

  say(text) {
    one("progress").textContent = text;
  }

  complain(text) {
    one("error").textContent = text;
    one("error").hidden = !text;
  }

  keepAddress() {
    const address = addressOf(this.state);
    try {
      history.replaceState(null, "", address);
    } catch { /* a page without an address of its own */ }
    one("link").href = address;
  }

  listen() {
    for (const name of Object.keys(FACTS.scenarios)) one("scenario").append(element("option", name, { value: name }));
    one("scenario").addEventListener("change", () => this.setScenario(one("scenario").value));
    one("reset").addEventListener("click", () => this.setScenario(one("scenario").value));
    for (const id of ["text", "set"]) {
      let later;
      one(id).addEventListener("input", () => {
        clearTimeout(later);
        later = setTimeout(() => this.setText(), 300);
      });
    }
    one("compares").addEventListener("change", () => this.compare(one("compares").checked));
    for (const side of [0, 1]) one(`edit-${"ab"[side]}`).addEventListener("change", () => this.edit(side));
    one("stop").addEventListener("click", () => this.stopOrGo());
    const number = (id, least, most) => one(id).addEventListener("change", () => {
      const value = Number(one(id).value);
      if (Number.isInteger(value) && value >= least && value <= most) {
        this.state[id] = value;
        this.start();
      } else one(id).value = this.state[id];
    });
    number("count", 1, MOST_WORLDS);
    number("seed", 0, MOST_SEED);
    one("show").addEventListener("change", () => {
      this.state.show = one("show").value;
      this.keepAddress();
      this.explain();
    });
    one("capture").disabled = one("play").disabled = true;
    one("play").addEventListener("click", () => {
      one("play").disabled = true; // until it is there
      this.worker.postMessage({ do: "play", job: this.number, ...this.shown });
    });
    one("capture").addEventListener("click", () => {
      const { side, seed } = this.shown;
      this.worker.postMessage({ do: "capture", job: this.number, side, seed });
    });
    addEventListener("hashchange", () => {
      if (location.hash === addressOf(this.state)) return;
      this.state = stateOf(location.hash);
      this.side = 0;
      this.told = [];
      this.showSides();
      this.start();
    });
  }
}

// Gives the reader a file.
function save(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type })), link = element("a", "", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

globalThis.laboratoryPage = new Page();

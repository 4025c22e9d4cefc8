// Runs worlds beside the page, so that the page never waits. Messages from the page have `do`, those to it have `say`.

const SLICE_MS = 25; // Then the worker looks for messages.
const REPORT_MS = 120; // The page gets the numbers at most so often,
const REPORT_SHARE = 4; // and making them takes at most a quarter of the time.

let laboratory = null;
let job = null;

// One piece of work: worlds of one scenario or of two, in the same order of seeds.
class Job {
  constructor({ number, sides, keys, seed, count, shown }) {
    Object.assign(this, { number, sides, keys, seed, count, shown });
    this.done = 0;
    this.paused = false;
    this.running = false;
    this.rows = sides.map(() => []);
    this.reported = 0;
    this.cost = 0;
    this.worked = 0; // milliseconds
  }

  // Opens the scenarios. False if one is refused.
  open() {
    laboratory.ask({ do: "close", side: 1 });
    return this.sides.every((candidates, side) => {
      let refused = null;
      for (const [index, sources] of candidates.entries()) {
        try {
          const told = laboratory.ask({ do: "open", side, sources, keys: this.keys });
          postMessage({ say: "opened", job: this.number, side, index, told });
          return true;
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          refused ??= error.about;
        }
      }
      postMessage({ say: "refused", job: this.number, side, error: refused });
      return false;
    });
  }

  async run() {
    if (this.running) return;
    this.running = true;
    while (job === this && !this.paused && this.done < this.count) {
      const began = performance.now();
      do this.world(); while (this.done < this.count && this.done > 1 && performance.now() - began < SLICE_MS);
      this.worked += performance.now() - began;
      if (this.done === 1) this.first();
      const now = performance.now();
      if (now - this.reported > Math.max(REPORT_MS, REPORT_SHARE * this.cost)) this.report();
      await messages();
    }
    this.running = false;
    if (job === this) this.report();
  }

  // The next world, of each scenario.
  world() {
    const seed = this.seed + this.done;
    this.sides.forEach((_, side) => this.rows[side].push(...laboratory.ask({ do: "run", side, seed, count: 1 })));
    this.done += 1;
  }

  // What is shown of one handshake comes before the other worlds.
  first() {
    this.report();
    if (this.shown && this.shown.side < this.sides.length) explain(this.number, this.shown);
  }

  report() {
    const began = performance.now();
    const summaries = this.sides.map((_, side) => laboratory.ask({ do: "summary", side }));
    const difference = this.sides.length > 1 ? laboratory.ask({ do: "difference" }) : null;
    postMessage({
      say: "progress", job: this.number, done: this.done, rows: this.rows, summaries, difference,
      running: job === this && this.running, worked: this.worked,
    });
    this.rows = this.sides.map(() => []);
    this.reported = performance.now();
    this.cost = this.reported - began;
  }
}

// Lets messages come in.
const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();
function messages() {
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port2.postMessage(null);
  });
}

function explain(number, { side, seed, client }) {
  const document = laboratory.ask({ do: "explain", side, seed, client });
  postMessage({ say: "explained", job: number, side, document });
}

const ACTIONS = {
  async load({ packed }) {
    const began = performance.now();
    const octets = Uint8Array.fromBase64?.(packed) ?? Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([octets]).stream().pipeThrough(new DecompressionStream("gzip"));
    laboratory = new Laboratory(await WebAssembly.compile(await new Response(stream).arrayBuffer()));
    postMessage({ say: "ready", stacks: laboratory.ask({ do: "stacks" }), took: performance.now() - began });
  },
  async start(given) {
    job = new Job(given);
    if (job.open()) await job.run();
    else job = null;
  },
  pause() {
    if (job) job.paused = true;
  },
  async go({ count }) {
    if (!job) return;
    job.paused = false;
    job.count = count;
    await job.run();
  },
  explain({ job: number, shown }) {
    explain(number, shown);
  },
  play({ job: number, side, seed, client }) {
    postMessage({ say: "played", job: number, side, document: laboratory.ask({ do: "play", side, seed, client }) });
  },
  capture({ job: number, side, seed }) {
    postMessage({ say: "captured", job: number, side, seed, digits: laboratory.ask({ do: "capture", side, seed }) });
  },
};

onmessage = async ({ data }) => {
  try {
    await ACTIONS[data.do](data);
  } catch (error) {
    const number = job?.number ?? data.job;
    if (error instanceof Broken) job = null; // its scenarios are closed
    postMessage({ say: "broken", job: number, message: error.message });
  }
};

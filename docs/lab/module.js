"use strict";
// The laboratory as a WebAssembly module: requests and answers are objects. It runs in the page's worker, and in node for tests.

// A scenario or a request that is wrong. `about` has the message, and the key and the place if the scenario is at fault.
class Refused extends Error {
  constructor(about) {
    super(about.message);
    this.about = about;
  }
}

// A panic: an error in slowhand or in a library. The module has to be started anew.
class Broken extends Error {}

class Laboratory {
  constructor(compiled) {
    this.compiled = compiled;
    this.start();
  }

  // Begins anew: no scenario is open.
  start() {
    this.said = "";
    const imports = {};
    for (const { module, name } of WebAssembly.Module.imports(this.compiled)) {
      imports[module] ??= {};
      imports[module][name] = (...given) => this.system(name, given);
    }
    this.exports = new WebAssembly.Instance(this.compiled, imports).exports;
    this.exports._initialize?.();
  }

  // The answer to a request.
  ask(request) {
    const { exports } = this;
    const octets = new TextEncoder().encode(JSON.stringify(request));
    let text;
    try {
      const room = exports.slowhand_page_room(octets.length) >>> 0;
      new Uint8Array(exports.memory.buffer, room, octets.length).set(octets);
      const answer = BigInt.asUintN(64, exports.slowhand_page_call(room, octets.length));
      const [at, length] = [Number(answer >> 32n), Number(answer & 0xffffffffn)];
      text = new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at, length));
      exports.slowhand_page_done(at, length);
      exports.slowhand_page_done(room, octets.length);
    } catch (error) {
      const said = this.said.trim() || String(error);
      this.start();
      throw new Broken(said);
    }
    const { ok, error } = JSON.parse(text);
    if (error) throw new Refused(error);
    return ok;
  }

  // What the module asks of a system (WASI preview 1): little. It reads no file, and no clock decides what it computes.
  system(name, given) {
    const view = new DataView(this.exports.memory.buffer);
    switch (name) {
      case "fd_write": { // what a panic says
        const [, vectors, count, written] = given;
        let octets = 0;
        for (let i = 0; i < count; i++) {
          const at = view.getUint32(vectors + 8 * i, true), length = view.getUint32(vectors + 8 * i + 4, true);
          this.said = (this.said + new TextDecoder().decode(new Uint8Array(view.buffer, at, length))).slice(-10_000);
          octets += length;
        }
        view.setUint32(written, octets, true);
        return 0;
      }
      case "random_get": // seeds of hash tables, whose order decides nothing
        crypto.getRandomValues(new Uint8Array(view.buffer, given[0], given[1]));
        return 0;
      case "environ_sizes_get":
        view.setUint32(given[0], 0, true);
        view.setUint32(given[1], 0, true);
        return 0;
      case "environ_get":
        return 0;
      case "clock_time_get":
        view.setBigUint64(given[2], BigInt(Date.now()) * 1_000_000n, true);
        return 0;
      case "proc_exit":
        throw new Error("the module has ended");
      default:
        return 8; // EBADF: there is no such file
    }
  }
}

if (typeof module !== "undefined") module.exports = { Broken, Laboratory, Refused };

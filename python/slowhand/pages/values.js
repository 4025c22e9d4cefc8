"use strict";
// Values as text, elements, and what all pictures on a canvas do.

// A time in microseconds, with as many decimals as a step of `step` microseconds needs.
function time(us, step = 1) {
  const decimals = Math.min(6, Math.max(0, Math.ceil(6 - Math.log10(Math.max(step, 1)) - 1e-9)));
  return `${(us / 1e6).toFixed(decimals)} s`;
}

function duration(us) {
  if (us >= 1e6) return `${(us / 1e6).toFixed(3)} s`;
  return us >= 1e3 ? `${(us / 1e3).toFixed(3)} ms` : `${us.toFixed(0)} µs`;
}

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// A part of a picture, as those that the page has from the beginning.
function drawn(name, attributes, text = "") {
  const made = document.createElementNS(document.querySelector("svg").namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

function fixed(value, decimals) {
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

function countOf(number, one) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : `${one}s`}`;
}

const micro = (seconds) => Math.round(seconds * 1e6); // a time of a document is exact to the microsecond

function seconds(value) {
  if (value >= 0.01) return `${fixed(value, 3)} s`;
  return value ? `${fixed(value * 1e6, 0)} µs` : "0 s";
}

function outcomeOf({ start_s, end_s, outcome, reason }) {
  const took = seconds(end_s - start_s);
  if (outcome === "completed") return `The handshake completed in ${took}.`;
  return `The handshake failed after ${took}, ${outcome.replaceAll("_", " ")}${reason ? `: ${reason}` : ""}.`;
}

// Keys and what they say: a text, or the element that has it.
function described(rows) {
  const list = element("dl");
  for (const [key, value] of rows) list.append(element("dt", key), value instanceof Element ? value : element("dd", value));
  return list;
}

// Lets keys of an element do what `keys` has.
function onKeys(box, keys) {
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
}

// A canvas, in the colours of the page.
class Drawing {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  readColours() {
    const style = getComputedStyle(this.canvas);
    this.colours = {};
    for (const name of ["text", "soft", "back", "raised", "line", "accent", "bad", "c0", "c1", "c2", "c3", "c4", "c5", "c6"])
      this.colours[name] = style.getPropertyValue(`--${name}`).trim();
  }

  resize(width, height, others = []) {
    const ratio = window.devicePixelRatio || 1;
    [this.width, this.height, this.ratio] = [width, height, ratio];
    for (const canvas of [this.canvas, ...others]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }

  // Where on it the pointer is.
  pointed({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    return { x: clientX - box.left, y: clientY - box.top };
  }

  cross(x, y, r) {
    const { context: c } = this;
    c.beginPath();
    for (const side of [-1, 1]) { c.moveTo(x - r, y - r * side); c.lineTo(x + r, y + r * side); }
    c.stroke();
  }
}

// A part of a page with a drawing: it follows the size of a box, and the colours of the page.
class Section {
  follow(box, drawing) {
    this.resizes = new ResizeObserver(() => this.layOut());
    this.resizes.observe(box);
    this.ends = new AbortController();
    const colours = matchMedia("(prefers-color-scheme: dark)");
    colours.addEventListener("change", () => { drawing.readColours(); this.redraw(); }, { signal: this.ends.signal });
    drawing.readColours();
    this.layOut();
  }

  // Another one takes its place.
  discard() {
    this.resizes.disconnect();
    this.ends.abort();
  }
}

"use strict";
// Values as text, and elements.

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

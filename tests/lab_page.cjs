// Answers requests with the module of the laboratory in a page: one JSON object a line, from stdin to stdout.
//   node tests/lab_page.cjs slowhand.wasm
"use strict";
const { readFileSync } = require("node:fs");
const { createInterface } = require("node:readline");
const { Broken, Laboratory, Refused } = require("../docs/lab/module.js");

const laboratory = new Laboratory(new WebAssembly.Module(readFileSync(process.argv[2])));
createInterface({ input: process.stdin }).on("line", (line) => {
  const answer = {}, request = JSON.parse(line);
  if (request.do === "panic") {
    const { slowhand_page_room } = laboratory.exports;
    laboratory.exports = { ...laboratory.exports, slowhand_page_call: () => slowhand_page_room(-1) };
  }
  const began = performance.now();
  try {
    answer.ok = laboratory.ask(request);
  } catch (error) {
    if (error instanceof Refused) answer.error = error.about;
    else if (error instanceof Broken) answer.broken = error.message;
    else throw error;
  }
  answer.ms = performance.now() - began;
  console.log(JSON.stringify(answer));
});

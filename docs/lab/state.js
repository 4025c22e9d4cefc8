// What the reader has chosen, and the same as the part of the address after #, so that a link shows the same to others.

const MOST_WORLDS = 10_000;
const MOST_SEED = Number.MAX_SAFE_INTEGER - MOST_WORLDS; // so all seeds are exact
const START = "csma"; // the scenario that a reader sees first

function freshSide(name = START) {
  return { name, text: null, set: [] }; // text: null while it is that of the scenario that comes with slowhand
}

function textOf(side) {
  return side.text ?? FACTS.scenarios[side.name] ?? "";
}

function sourcesOf(side, set = side.set) {
  const file = `${side.name}.toml`;
  return { scenario: file, files: { [file]: textOf(side) }, overrides: set };
}

function addressOf(state) {
  const words = new URLSearchParams();
  state.sides.forEach((side, number) => {
    const prefix = "ab"[number];
    words.append(prefix, side.name);
    if (side.text !== null) words.append(`${prefix}.text`, side.text);
    for (const line of side.set) words.append(`${prefix}.set`, line);
  });
  words.append("seed", state.seed);
  words.append("count", state.count);
  words.append("show", state.show);
  return `#${words}`;
}

// The state of an address. What it does not say, or says wrongly, is as at the beginning.
function stateOf(address) {
  const words = new URLSearchParams(address.replace(/^#/, ""));
  const whole = (name, least, most, otherwise) => {
    const text = words.get(name) ?? "", number = Number(text);
    return text && Number.isInteger(number) && number >= least && number <= most ? number : otherwise;
  };
  const sides = ["a", "b"].filter((prefix) => words.has(prefix)).map((prefix) => {
    const side = freshSide(Object.hasOwn(FACTS.scenarios, words.get(prefix)) ? words.get(prefix) : START);
    side.text = words.get(`${prefix}.text`);
    side.set = words.getAll(`${prefix}.set`);
    return side;
  });
  return {
    sides: sides.length ? sides : [freshSide()],
    seed: whole("seed", 0, MOST_SEED, 1),
    count: whole("count", 1, MOST_WORLDS, 200),
    show: /^(first|median|slowest)$/.test(words.get("show") ?? "") ? words.get("show") : "first",
  };
}

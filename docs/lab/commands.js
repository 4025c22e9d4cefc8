// What to type for the same: the command, and the Python.

// A word for a shell.
function shellWord(word) {
  if (word && /^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\"'\"'")}'`;
}

// A text in Python: JSON's strings are Python's.
const pythonText = (text) => JSON.stringify(text);

const fileOf = (side, number) => (side.text === null ? side.name : `${side.name}-${"ab"[number]}.toml`);

function commandOf(side, number, seed, worlds) {
  const words = ["slowhand run", shellWord(fileOf(side, number)), ...side.set.map((line) => `--set ${shellWord(line)}`)];
  words.push(`--seed ${seed}`, `--count ${worlds}`);
  const lines = [""];
  for (const word of words) {
    if (lines.at(-1) && lines.at(-1).length + word.length > 96) lines.push("   ");
    lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
  }
  return lines.join(" \\\n");
}

function pythonOf(sides, seed, worlds) {
  const made = sides.map((side, number) => {
    const set = side.set.length ? `, [\n${side.set.map((line) => `    ${pythonText(line)},\n`).join("")}]` : "";
    return `${"ab"[number]} = slowhand.Scenario(${pythonText(fileOf(side, number))}${set})`;
  });
  const run = (name) => `slowhand.Run(${name}, seed=${seed}, count=${worlds})`;
  const uses = sides.length > 1
    ? [`print(slowhand.compare([a, b], seed=${seed}, count=${worlds}))`]
    : [`print(${run("a")}.summary()["metrics"]["duration_s"])`];
  return ["import slowhand", "", ...made, ...uses].join("\n");
}

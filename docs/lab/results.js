// The numbers of a run as text, as a table and as a picture. What is shown and how numbers are written is as in `slowhand run`.

const LARGEST = 1e7, SMALLEST = 1e-4; // numbers from the one on or below the other are written with an exponent
const COUNTED = (unit) => !["s", "mJ"].includes(unit);

function exponent(value, decimals) {
  return value.toExponential(decimals).replace("e+", "e");
}

// A number with as many decimals as give the largest of its row four digits, at most six. `whole`: none if it has none.
function decimal(value, largest, whole = false) {
  largest = Math.abs(largest);
  if (largest >= LARGEST || (largest > 0 && largest < SMALLEST)) return value ? exponent(value, 3) : "0";
  if (!largest || (whole && Number.isInteger(value))) return fixed(value, 0);
  return fixed(value, Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(largest)))));
}

// Half of an interval: two digits.
function half(value) {
  if (!value) return "";
  if (!(value > SMALLEST && value < LARGEST)) return exponent(value, 1);
  return fixed(value, Math.max(0, 1 - Math.floor(Math.log10(value))));
}

// Half of the interval of a mean, or the interval itself if it ends at 0: no metric is negative.
function interval({ mean, ci95, half: width }) {
  if (!ci95 || isNothing(width, mean)) return "";
  return width <= mean ? half(width) : `0..${half(ci95[1])}`;
}

// True if a number is what is left of the rounding of another one.
function isNothing(value, beside) {
  return Math.abs(value) <= 1e-12 * Math.abs(beside);
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

// How many handshakes completed, and what became of the others.
function outcomes({ completed, failed }) {
  const total = completed + sum(Object.values(failed));
  const others = Object.entries(failed).map(([outcome, times]) => `${times.toLocaleString("en")} ${outcome.replaceAll("_", " ")}`);
  return [`${completed.toLocaleString("en")} of ${total.toLocaleString("en")} handshakes completed`, ...others].join(", ");
}

// Why handshakes failed, in the words of the library or of TCP.
function failures(summary) {
  const shown = summary.failures.filter(({ end, reason, outcome }) => end || reason || outcome === "gave_up");
  return shown.map(({ outcome, end, reason, count: times }) => {
    let text = `${times.toLocaleString("en")} ${outcome.replaceAll("_", " ")}`;
    if (end) text += ` at the ${end}`;
    else if (outcome === "gave_up") text += `: not complete when ${FACTS.give_up}`;
    return reason ? `${text}: ${reason}` : text;
  });
}

function place(node) {
  if (node === "internet") return "on the Internet";
  return node === 0 ? "at the border router" : `at node ${node}`;
}

// A line for each reason of a loss, the most frequent first, and what changes it.
function losses(summary) {
  const reasons = new Map();
  for (const loss of summary.losses) {
    const name = JSON.stringify([loss.reason, loss.key, loss.advice]);
    reasons.set(name, [...(reasons.get(name) ?? []), loss]);
  }
  const counted = [...reasons.values()].map((alike) => [sum(alike.map((loss) => loss.count)), alike]);
  return counted.sort((a, b) => b[0] - a[0]).map(([times, alike]) => {
    const [{ reason, node, key, advice }] = alike;
    let text = `${reason === "internet" ? "lost" : reason.replaceAll("_", " ")} ${place(node)}`;
    if (alike.length > 1) text += ` and ${countOf(alike.length - 1, "other node")}`;
    text += times === 1 ? ", once" : `, ${times.toLocaleString("en")} times`;
    const held = alike.flatMap(({ holders }) => holders ?? []);
    const useless = sum(held.map(({ lost }) => lost)), holders = sum(held.map(({ datagrams }) => datagrams));
    if (useless) {
      text += ` (${useless.toLocaleString("en")} of the ${holders.toLocaleString("en")} buffers were held by datagrams that had lost`;
      text += " a fragment; lowpan.reassembly_timeout_s says for how long)";
    }
    if (key) text += advice ? `: ${advice} ${key}` : `: ${key} asks for it`;
    return text;
  });
}

// ---- the table

const STATISTICS = { mean: "mean", ci95: "± 95 %", min: "min", p50: "p50", p95: "p95", p99: "p99", max: "max" };
const OPTIONAL = ["min", "p99"]; // a narrow window has no room for them

// The groups of rows to show: label, unit, and the metric of each summary. Of the handshakes that completed; if none did anywhere, of
// those that failed.
function groups(summaries) {
  const completed = summaries.some((summary) => summary.completed), found = [];
  const every = summaries.map((summary) => (completed ? summary.metrics : summary.metrics_failed));
  for (const [group, rows] of Object.entries(FACTS.metrics)) {
    const shown = [];
    for (const [name, [label, unit]] of Object.entries(rows)) {
      const metrics = every.map((metrics) => metrics[name]);
      const largest = Math.max(...metrics.map((metric) => metric?.max ?? -1));
      if (largest < 0 || (FACTS.if_several.includes(name) && largest <= 1) || (FACTS.if_any.includes(name) && !largest)) continue;
      shown.push({ name, label, unit, metrics });
    }
    if (shown.length) found.push([completed ? group : `${group} (failed handshakes)`, shown]);
  }
  return found;
}

// Of one scenario: all statistics. Of two: means, intervals and the difference.
function showTable(table, summaries, difference) {
  const compares = summaries.length > 1;
  const alone = !compares && summaries[0].completed + sum(Object.values(summaries[0].failed)) < 2;
  const headings = compares
    ? ["A: mean", "± 95 %", "B: mean", "± 95 %", "B − A", "± 95 %"]
    : alone ? ["value"] : Object.values(STATISTICS);
  const head = element("tr");
  for (const words of ["Quantity", "Unit"]) head.append(element("th", words, { scope: "col" }));
  const style = (words) => (OPTIONAL.includes(words) ? "number optional" : "number");
  for (const words of headings) head.append(element("th", words, { scope: "col", class: style(words) }));
  const body = element("tbody");
  for (const [group, rows] of groups(summaries)) {
    const line = element("tr");
    line.append(element("th", group, { scope: "rowgroup", class: "group", colspan: headings.length + 2 }));
    body.append(line);
    for (const { name, label, unit, metrics } of rows) {
      const cells = compares ? comparedCells(metrics, unit, difference?.[name]) : cellsOf(metrics[0], unit, alone);
      const row = element("tr");
      row.append(element("th", label, { scope: "row" }), element("td", unit));
      cells.forEach((text, number) => row.append(element("td", text, { class: style(headings[number]), "data-label": headings[number] })));
      if (compares && isClear(difference?.[name])) row.lastChild.previousSibling.classList.add("clear");
      body.append(row);
    }
  }
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceWith(body);
}

function cellsOf(metric, unit, alone) {
  if (alone) return [decimal(metric.mean, metric.max, COUNTED(unit))];
  return Object.keys(STATISTICS).map((key) =>
    key === "ci95" ? interval(metric) : decimal(metric[key], metric.max, COUNTED(unit)));
}

function comparedCells(metrics, unit, difference) {
  const largest = Math.max(...metrics.map((metric) => metric?.max ?? 0));
  const cells = metrics.flatMap((metric) => (metric ? [decimal(metric.mean, largest, COUNTED(unit)), interval(metric)] : ["none", ""]));
  if (!difference) return [...cells, "", ""];
  if (isNothing(difference.mean, largest)) return [...cells, "0", ""];
  const sign = difference.mean > 0 ? "+" : difference.mean < 0 ? "−" : "";
  return [...cells, sign + decimal(Math.abs(difference.mean), largest, COUNTED(unit)), half(difference.half)];
}

// True if the interval of a difference does not contain 0.
function isClear(difference) {
  return Boolean(difference?.half) && Math.abs(difference.mean) > difference.half;
}

// ---- the distribution


// The share of all handshakes that completed within a time, one line for each scenario.
function showDistribution(svg, rows) {
  const [width, height, left, right, top, bottom] = [640, 300, 52, 16, 12, 44];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const completed = rows.map((of) => of.filter((row) => row.outcome === "completed").map((row) => row.duration_s).sort((a, b) => a - b));
  const longest = Math.max(...completed.map((times) => times.at(-1) ?? 0));
  const parts = [];
  const y = (share) => height - bottom - share * (height - top - bottom);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    parts.push(drawn("path", { class: "grid", d: `M${left} ${y(share)}H${width - right}` }));
    parts.push(drawn("text", { x: left - 8, y: y(share) + 4, "text-anchor": "end" }, `${share * 100} %`));
  }
  if (longest) {
    const step = tick(longest / 5), last = Math.ceil(longest / step - 1e-9) * step;
    const x = (time) => left + (time / last) * (width - left - right);
    for (let at = 0; at <= last + step / 2; at += step) {
      parts.push(drawn("path", { class: "grid", d: `M${x(at).toFixed(1)} ${y(0)}v5` }));
      parts.push(drawn("text", { x: x(at).toFixed(1), y: y(0) + 19, "text-anchor": "middle" }, String(Number(at.toPrecision(6)))));
    }
    completed.forEach((times, side) => {
      let line = `M${left} ${y(0)}`;
      times.forEach((time, number) => { line += `H${x(time).toFixed(1)}V${y((number + 1) / rows[side].length).toFixed(1)}`; });
      if (times.length) parts.push(drawn("path", { class: `curve side${side}`, d: `${line}H${width - right}` }));
    });
  }
  parts.push(drawn("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "duration of the handshake (s)"));
  svg.replaceChildren(...parts);
  const median = (times) => (times.length ? `half of those that completed took at most ${decimal(times[(times.length - 1) >> 1], longest)} s` : "none completed");
  svg.setAttribute("aria-label", completed.map((times, side) => (rows.length > 1 ? `${"AB"[side]}: ` : "") + median(times)).join("; "));
}

// 1, 2 or 5 times a power of ten, at least this.
function tick(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9));
}

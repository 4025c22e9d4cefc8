// The controls, and how they change a scenario: each sets keys, as `--set` does. The keys that are set stand below the text of the
// scenario, one a line, and can be edited there too.

// The line of a key among the lines that are set; undefined if there is none.
const keyOf = (line) => line.split("=", 1)[0].trim();

// The lines with this key set to a TOML value; `undefined` takes the line away. Keys below it fall away.
function withKey(lines, key, value) {
  const kept = lines.filter((line) => keyOf(line) !== key && !keyOf(line).startsWith(`${key}.`));
  return value === undefined ? kept : [...kept, `${key}=${value}`];
}

const quoted = (text) => JSON.stringify(String(text)); // a basic string of TOML, for words without control characters

const LINK_LAYERS = {
  tsch: { label: "TSCH (6TiSCH)", keys: { slotframe: 11 } },
  csma: { label: "CSMA/CA", keys: {} },
  xmac: { label: "X-MAC (ContikiMAC-like)", keys: { check_interval_ms: 125 } },
  beacon: { label: "beacons (802.15.4)", keys: { beacon_interval_ms: 245.76, cap_ms: 61.44 } },
};

// Each control: `key` of the scenario, `get` its value as told, `set` the lines that it changes. `mac`: with this link layer only.
const CONTROLS = [
  { group: "Network", key: "network.topology.hops", label: "Hops", kind: "range", min: 1, max: 8, step: 1,
    get: ({ values }) => (values["network.topology"]?.kind === "line" ? values["network.topology"].hops : null),
    none: (told) => `${told.nodes} nodes, no line`,
    set: (lines, value, told) => (told?.values["network.topology"]?.kind === "line"
      ? withKey(lines, "network.topology.hops", value)
      : withKey(lines, "network.topology", `{ kind = "line", hops = ${value} }`)) },
  { group: "Network", key: "network.link_pdr", label: "Frames lost on each link", kind: "range", min: 0, max: 60, step: 1, unit: "%",
    get: ({ values }) => 100 * (1 - (values["network.link_pdr"] ?? 1)),
    set: (lines, value) => withKey(lines, "network.link_pdr", Number((1 - value / 100).toFixed(2))) },
  { group: "Network", key: "lowpan.fragment_loss", label: "Fragments lost for good", kind: "range", min: 0, max: 30, step: 1, unit: "%",
    get: ({ values }) => 100 * (values["lowpan.fragment_loss"] ?? 0),
    set: (lines, value) => withKey(lines, "lowpan.fragment_loss", Number((value / 100).toFixed(2))) },
  { group: "Link layer", key: "mac.kind", label: "Link layer", kind: "select",
    options: () => Object.entries(LINK_LAYERS).map(([value, { label }]) => ({ value, label })),
    get: ({ mac }) => mac,
    set: (lines, value) => {
      const keys = Object.entries(LINK_LAYERS[value].keys).map(([key, number]) => `, ${key} = ${number}`).join("");
      return withKey(lines, "mac", `{ kind = ${quoted(value)}${keys} }`);
    } },
  { group: "Link layer", mac: "tsch", key: "mac.slotframe", label: "Slotframe", kind: "range", min: 3, max: 101, step: 2, unit: "slots" },
  { group: "Link layer", mac: "tsch", key: "mac.slot_ms", label: "Slot", kind: "number", min: 10, max: 50, step: 5, unit: "ms" },
  { group: "Link layer", mac: "csma", key: "mac.sleepy", label: "Who sleeps", kind: "select",
    options: () => [{ value: "none", label: "nobody" }, { value: "leaves", label: "nodes without children" }],
    get: ({ values }) => values["mac.sleepy"] ?? "none",
    set: (lines, value) => withKey(lines, "mac.sleepy", quoted(value)) },
  { group: "Link layer", mac: "csma", key: "mac.poll_period_ms", label: "Time between polls", kind: "number", min: 50, max: 240000, step: 50, unit: "ms" },
  { group: "Link layer", mac: "xmac", key: "mac.check_interval_ms", label: "Time between channel checks", kind: "range", min: 25, max: 500, step: 25, unit: "ms" },
  { group: "Link layer", mac: "beacon", key: "mac.beacon_interval_ms", label: "Time between beacons", kind: "select",
    options: () => [61.44, 122.88, 245.76, 491.52, 983.04, 1966.08].map((value) => ({ value, label: `${value} ms` })) },
  { group: "Link layer", mac: "beacon", key: "mac.cap_ms", label: "Contention access period", kind: "select",
    options: () => [15.36, 30.72, 61.44, 122.88].map((value) => ({ value, label: `${value} ms` })) },
  { group: "Session", key: "session.stack", label: "Library", kind: "select", follows: true,
    options: ({ stacks }) => stacks.filter(({ suites }) => suites.length).map(({ name, version }) => {
      const missing = version === "not in this build";
      return { value: name, label: missing ? `${name}: ${version}` : name, disabled: missing };
    }),
    get: ({ settings }) => settings.client.stack,
    set: (lines, value) => withKey(lines, "session.stack", quoted(value)) },
  { group: "Session", key: "session.protocol", label: "Protocol", kind: "select", follows: true,
    options: ({ stacks }) => [...new Set(stacks.flatMap(({ protocols }) => protocols))].sort().map((value) => ({ value, label: value })),
    get: ({ settings }) => settings.client.protocol,
    set: (lines, value) => withKey(lines, "session.protocol", quoted(value)) },
  { group: "Session", key: "session.credential", label: "Credential", kind: "select", follows: true,
    options: ({ stacks }) => [...new Set(stacks.flatMap(({ credentials }) => credentials))].map((value) => ({ value, label: value.replaceAll("_", " ") })),
    get: ({ settings }) => settings.client.credential,
    set: (lines, value) => withKey(lines, "session.credential", quoted(value)) },
  { group: "Session", key: "session.timeout_s", label: "First retransmission timeout", kind: "number", min: 0.1, max: 120, step: 0.1, unit: "s",
    get: ({ settings }) => (settings.client.timer ? settings.client.timer.first_ms / 1000 : null), none: () => "no timer over a stream" },
  { group: "Session", key: "session.mtu", label: "MTU: most octets of a datagram", kind: "number", min: 64, max: 1500, step: 1, unit: "octets", placeholder: "no limit" },
  { group: "Devices", key: "client.device", label: "Client", kind: "select", options: () => FACTS.devices.map((value) => ({ value, label: value })),
    set: (lines, value) => withKey(lines, "client.device", quoted(value)) },
];

const KEYS = [...new Set(CONTROLS.map(({ key }) => key)), "network.topology", ...Object.keys(FACTS.belongs), "session.suite"];

// The value of a control as the module tells it; null if the scenario does not have it.
function valueOf(control, told) {
  return control.get ? control.get(told) : told.values[control.key] ?? null;
}

// The lines that may follow when a control of the session changes, the best first: the suite of RFC 7925, or the library's choice.
// As in `slowhand sweep --vary`.
function followings(control, lines, value, told) {
  const set = control.set ?? ((lines, value) => withKey(lines, control.key, value === "" ? undefined : value));
  const changed = set(lines, value, told);
  if (!control.follows || !told) return [changed];
  const end = told.settings.client;
  const protocol = control.key === "session.protocol" ? value : end.protocol;
  const credential = control.key === "session.credential" ? value : end.credential;
  const isKeyPair = !["psk", "ecjpake"].includes(credential);
  const auth = end.auth === "server" && isKeyPair ? "server" : credential === "psk" ? "psk" : "mutual";
  let others = withKey(changed, "session.auth", quoted(auth));
  others = withKey(others, "session.credential", quoted(credential));
  for (const [key, owner] of Object.entries(FACTS.belongs))
    if (owner !== credential && told.values[key] !== null) others = withKey(others, key, "");
  const suite = protocol.endsWith("1.3") ? FACTS.suite_13 : FACTS.suites[credential];
  const free = withKey(others, "session.suite", "");
  const best = suite ? [withKey(others, "session.suite", quoted(suite))] : [];
  return control.key === "session.stack" ? [changed, ...best, free] : [...best, free];
}

// Builds the controls into their groups. `change` is called with a control and its new value.
class Controls {
  constructor(box, change) {
    this.box = box;
    this.change = change;
    this.inputs = new Map();
  }

  build(stacks) {
    const groups = new Map();
    for (const control of CONTROLS) {
      if (!groups.has(control.group)) {
        const group = element("fieldset");
        group.append(element("legend", control.group));
        groups.set(control.group, group);
        this.box.append(group);
      }
      groups.get(control.group).append(this.control(control, stacks));
    }
  }

  control(control, stacks) {
    const name = `control-${control.key.replaceAll(".", "-")}`;
    const box = element("div", "", { class: "control", id: name }), label = element("label", control.label, { for: `${name}-input` });
    const shown = element("output", "", { for: `${name}-input` });
    let input;
    if (control.kind === "select") {
      input = element("select");
      for (const { value, label, disabled } of control.options({ stacks })) {
        const option = element("option", label, { value });
        option.disabled = Boolean(disabled);
        input.append(option);
      }
    } else {
      input = element("input", "", { type: control.kind, min: control.min, max: control.max, step: control.step });
      if (control.placeholder) input.placeholder = control.placeholder;
    }
    input.id = `${name}-input`;
    input.addEventListener(control.kind === "range" ? "input" : "change", () => {
      this.say(control, input.value);
      this.change(control, input.value);
    });
    box.append(label, input, shown);
    this.inputs.set(control, { box, input, shown });
    return box;
  }

  // What stands beside an input: the value of a range, and the unit.
  say(control, value) {
    const { shown } = this.inputs.get(control);
    shown.textContent = [control.kind === "range" ? value : "", control.unit ?? ""].join(" ").trim();
  }

  // Shows the values of a scenario, but not where the reader is just typing.
  show(told) {
    for (const [control, { box, input, shown }] of this.inputs) {
      box.hidden = Boolean(control.mac) && control.mac !== told.mac;
      const value = valueOf(control, told);
      if (value === null && control.none) shown.textContent = control.none(told);
      else this.say(control, value === null ? "default" : Number(Number(value).toFixed(4)));
      if (input === document.activeElement && control.kind === "number") continue;
      if (control.kind === "select") this.select(input, value);
      else input.value = value === null ? "" : Number(Number(value).toFixed(4));
    }
  }

  // Selects a value, also one that no option has.
  select(input, value) {
    input.querySelector(".other")?.remove();
    const wanted = value === null ? "" : String(value);
    if (![...input.options].some((option) => option.value === wanted))
      input.prepend(element("option", wanted || "the default", { value: wanted, class: "other" }));
    input.value = wanted;
  }
}

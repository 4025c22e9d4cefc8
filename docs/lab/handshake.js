// One handshake: the document of the laboratory becomes the section that lanes.js draws and moves. The page of `slowhand run
// --timeline` has the same section from lanes.py.

const BECAME = ["ok", "lost", "needed", "spurious"];

// The events in columns of numbers, as `Events` reads them: times in microseconds, texts in a list.
function packed(document) {
  const { events, parts, path } = document;
  const places = new Map(events.map((event, place) => [event.id, place])), texts = new Map();
  const number = (text) => {
    if (!texts.has(text)) texts.set(text, texts.size);
    return texts.get(text);
  };
  const colours = coloursOf(parts), begins = events.map((event) => micro(event.from_s));
  return {
    from: micro(document.start_s),
    to: micro(document.end_s),
    lanes: document.lanes.map(({ name, host, layer }) => [name, host, layer]),
    parts: parts.map(({ kind, causes, spans }) => ({
      kind,
      colour: colours.get(kind),
      causes: causes.map((cause) => places.get(cause)),
      spans: spans.map((span) => span.map(micro)),
    })),
    path: path.map(({ from_s, to_s, part, event }) => [micro(from_s), micro(to_s), part, places.get(event) ?? -1]),
    events: {
      lane: events.map((event) => event.lane),
      kind: events.map((event) => number(event.kind)),
      name: events.map((event) => number(event.name)),
      after: begins.map((begin, i) => begin - (begins[i - 1] ?? 0)),
      length: events.map((event, i) => micro(event.to_s) - begins[i]),
      state: events.map((event) => BECAME.indexOf(event.state)),
      cause: events.map((event) => places.get(event.cause) ?? -1),
      critical: events.flatMap((event, place) => (event.critical ? [place] : [])),
      detail: events.map((event) => event.detail.flatMap(([key, value]) => [number(key), number(value)])),
    },
    texts: [...texts.keys()],
  };
}

// A number for each kind of part. Those of the largest parts come first.
function coloursOf(parts) {
  return new Map([...new Set(parts.map((part) => part.kind))].map((kind, number) => [kind, number]));
}

// Fills the copy of the section in the page's template.
function handshakeSection(document) {
  const section = globalThis.document.getElementById("handshake-template").content.cloneNode(true).querySelector("section");
  const one = (selector) => section.querySelector(selector), { parts } = document;
  const colours = coloursOf(parts), total = sum(parts.map((part) => part.microseconds)) || 1;
  const share = (part) => (100 * part.microseconds) / total;
  const colour = (part) => `part${colours.get(part.kind) % COLOURS}${colours.get(part.kind) >= COLOURS ? " striped" : ""}`;
  const roles = new Map(document.hosts.map(({ name, role }) => [name, `${name}, ${role}`]));
  one("[autofocus]").removeAttribute("autofocus"); // the reader is elsewhere; the dialog focuses its one button anyway
  one(".outcome").textContent = outcomeOf(document);
  one(".outcome").classList.toggle("failed", document.outcome !== "completed");
  one(".summary").textContent = document.summary;
  let left = 0;
  parts.forEach((part, number) => {
    const width = share(part);
    const piece = drawn("rect", { class: colour(part), x: `${left.toFixed(3)}%`, width: `${width.toFixed(3)}%`, height: 22, "data-part": number });
    piece.append(drawn("title", {}, part.text));
    one(".bar").append(piece);
    if (width > 2) one(".bar").append(drawn("text", { x: `${(left + width / 2).toFixed(3)}%`, y: 15 }, number + 1));
    left += width;
    one(".parts tbody").append(partRow(part, number, colour(part), share(part), roles));
  });
  one(".data").textContent = JSON.stringify(packed(document));
  return section;
}

function partRow(part, number, colour, share, roles) {
  const row = element("tr", "", { "data-part": number }), head = element("th", "", { scope: "row" });
  const button = element("button", "", { type: "button", "aria-pressed": "false" });
  button.append(element("i", "", { class: colour }), `${number + 1} ${part.kind}`);
  head.append(button);
  row.append(
    head,
    element("td", roles.get(part.host) ?? part.host),
    element("td", seconds(part.seconds), { class: "number" }),
    element("td", `${share.toFixed(1)} %`, { class: "number" }),
    element("td", part.text),
    element("td", part.remedy ?? ""),
  );
  return row;
}

// A reader of a timeline moves, zooms, chooses, finds, collapses; by pointer and by keys.

const LEAST = 50; // The shortest time that fills the picture, in microseconds: a few symbols of 802.15.4.
const MOST_LISTED = 200;

class Timeline extends Section {
  constructor(section) {
    super();
    this.section = section;
    const one = (selector) => section.querySelector(selector);
    this.events = new Events(JSON.parse(one(".data").textContent));
    this.lanes = one(".lanes");
    this.sheet = one(".sheet");
    this.canvas = one("canvas");
    this.tip = one(".tip");
    this.chosenBox = one(".chosen");
    this.list = one(".list");
    this.search = one("input");
    this.picture = new Picture(this.canvas, this.events);
    this.shown = { chosen: -1, part: -1, found: null, range: null, cursor: null };
    this.hovered = -1;
    this.step = -1;
    this.makeLabels(one(".labels"));
    this.listenToButtons();
    this.listenToPointer();
    this.listenToKeys();
    const margin = Math.max(LEAST, (this.events.last - this.events.first) * 0.01);
    this.bounds = { from: this.events.first - margin, to: this.events.last + margin };
    this.view = { ...this.bounds };
    this.follow(this.lanes, this.picture);
    this.showList();
  }

  // ---- what is drawn

  layOut() {
    const total = this.picture.place(this.events.lanes);
    this.sheet.style.height = `${total}px`;
    const width = this.lanes.clientWidth, left = width < 700 ? 110 : 190;
    this.picture.left = left;
    this.picture.resize(width, Math.min(total, this.lanes.clientHeight));
    this.labels.style.width = `${left - 2}px`;
    this.redraw();
  }

  redraw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.picture.draw(this.view, this.lanes.scrollTop, this.shown);
      for (const lane of this.events.lanes) lane.label.style.top = `${lane.top}px`;
      this.labels.style.clipPath = `inset(${this.lanes.scrollTop + HEAD}px 0 0 0)`; // not over the head
      const step = (this.view.to - this.view.from) / 1000;
      this.section.querySelector(".range").textContent = `${time(this.view.from, step)} to ${time(this.view.to, step)}`;
      this.placeTip();
    });
  }

  show(from, to) {
    const whole = this.bounds.to - this.bounds.from;
    const span = Math.min(Math.max(to - from, LEAST), whole);
    const middle = (from + to) / 2;
    const begin = Math.min(Math.max(middle - span / 2, this.bounds.from), this.bounds.to - span);
    this.view = { from: begin, to: begin + span };
    this.redraw();
  }

  zoom(factor, at = (this.view.from + this.view.to) / 2) {
    // `at` stays where it is, also where the time is as long or as short as it can be.
    const span = this.view.to - this.view.from;
    const next = Math.min(Math.max(span * factor, LEAST), this.bounds.to - this.bounds.from);
    const from = at - ((at - this.view.from) * next) / span;
    this.show(from, from + next);
  }

  pan(share) {
    const by = share * (this.view.to - this.view.from);
    this.show(this.view.from + by, this.view.to + by);
  }

  whole() { this.show(this.bounds.from, this.bounds.to); }

  zoomTo(i) {
    const { from, to } = this.events, around = Math.max((to[i] - from[i]) * 2, 2000);
    this.show(from[i] - around, to[i] + around);
  }

  // ---- choosing

  choose(i, { reveals = true } = {}) {
    this.shown.chosen = i;
    this.chosenBox.replaceChildren(...(i < 0 ? [element("p", "No event is chosen.")] : this.description(i, true)));
    if (i >= 0 && reveals) this.reveal(i);
    for (const button of this.list.querySelectorAll("button")) {
      if (Number(button.dataset.event) === i) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    this.redraw();
    if (i >= 0) this.section.dispatchEvent(new CustomEvent("chosen", { detail: this.events.from[i] }));
  }

  // Marks a time. `follows`: it stays in view.
  point(us, follows = false) {
    this.shown.cursor = us;
    if (follows && us > this.view.to && us < this.bounds.to) this.show(us, us + this.span());
    else this.redraw();
  }

  reveal(i) {
    const lane = this.events.lanes[this.events.lane[i]];
    if (lane.closed) this.close(lane, false);
    const { from, to } = this.events, span = this.view.to - this.view.from;
    if (from[i] < this.view.from || from[i] > this.view.to) this.show(from[i] - span / 3, from[i] + (2 * span) / 3);
    else if (to[i] > this.view.to && to[i] - from[i] < span) this.show(to[i] - span * 0.9, to[i] + span * 0.1);
    const top = lane.top - HEAD, bottom = lane.top + lane.height - this.lanes.clientHeight;
    if (this.lanes.scrollTop > top) this.lanes.scrollTop = top;
    else if (this.lanes.scrollTop < bottom) this.lanes.scrollTop = bottom;
  }

  // The next or previous event in time, in lanes that are open. False: there is none.
  walk(by) {
    const { count, lanes, lane } = this.events;
    let i = this.shown.chosen + by;
    while (i >= 0 && i < count && lanes[lane[i]].closed) i += by;
    if (i < 0 || i >= count) return false;
    this.choose(i);
    return true;
  }

  // The first event that begins in view, in a lane that is open.
  enter() {
    const { count, from, lanes, lane } = this.events;
    for (let i = 0; i < count; i++)
      if (from[i] >= this.view.from && from[i] <= this.view.to && !lanes[lane[i]].closed) return this.choose(i);
  }

  // The next or previous step of the critical path, from the event or the part that is chosen.
  walkPath(by) {
    const { path, from } = this.events, chosen = this.shown.chosen;
    if (!path.length) return;
    if (chosen >= 0 && path[this.step]?.event !== chosen) {
      const same = path.findIndex((step) => step.event === chosen);
      const before = path.findLastIndex((step) => step.from <= from[chosen]);
      this.step = same >= 0 ? same : by < 0 ? before + 1 : before;
    }
    this.step = Math.min(Math.max(this.step + by, 0), path.length - 1);
    this.takeStep(path[this.step]);
  }

  takeStep(step) {
    this.step = this.events.path.indexOf(step);
    this.choosePart(step.part, false);
    if (step.event >= 0) this.choose(step.event);
    else if (step.to < this.view.from || step.from > this.view.to) this.show(step.from - (this.view.to - this.view.from) / 3, step.to);
  }

  choosePart(part, moves = true) {
    this.shown.part = part;
    for (const row of this.section.querySelectorAll("tr[data-part]")) {
      const on = Number(row.dataset.part) === part;
      row.classList.toggle("on", on);
      row.querySelector("button").setAttribute("aria-pressed", on);
    }
    if (moves) this.choose(-1);
    if (part >= 0 && moves) {
      this.chosenBox.replaceChildren(...this.partDescription(part));
      const spans = this.events.parts[part].spans;
      const seen = spans.some(([from, to]) => to >= this.view.from && from <= this.view.to);
      if (!seen && spans.length) this.show(spans[0][0] - 1000, spans[spans.length - 1][1] + 1000);
    }
    this.redraw();
  }

  // The words on an event. With buttons: its cause and its effects can be chosen.
  description(i, buttons) {
    const { events } = this, lane = events.lanes[events.lane[i]];
    const rows = [["lane", `${lane.name} (${lane.host})`]];
    const long = events.to[i] - events.from[i];
    rows.push(["time", time(events.from[i]) + (long ? ` to ${time(events.to[i])}, ${duration(long)}` : "")]);
    if (events.state[i]) rows.push(["state", STATES[events.state[i]]]);
    rows.push(...events.detail(i));
    if (events.critical[i]) {
      const parts = new Set(events.path.filter((step) => step.event === i).map((step) => step.part));
      const words = [...parts].sort((a, b) => a - b).map((part) => `${part + 1} ${events.parts[part].kind}`);
      rows.push(["critical path", ["yes", ...words].join(", ")]);
    }
    if (events.cause[i] >= 0) rows.push(["because of", this.links([events.cause[i]], buttons)]);
    const effects = events.effects.get(i);
    if (buttons && effects) rows.push(["leads to", this.links(effects, true)]);
    return [element("strong", events.name(i)), described(rows)];
  }

  // A part in the words of the table, and the events behind it.
  partDescription(part) {
    const { kind, causes } = this.events.parts[part];
    const cells = this.section.querySelector(`tr[data-part="${part}"]`).cells;
    const rows = [["time", cells[2].textContent], ["why", cells[4].textContent]];
    if (causes.length) rows.push(["events", this.links(causes, true)]);
    return [element("strong", `${part + 1} ${kind}`), described(rows)];
  }

  // The names of events; as buttons that choose them.
  links(places, buttons) {
    const value = element("dd");
    for (const place of places.slice(0, 6)) {
      const words = `${this.events.name(place)}, ${time(this.events.from[place])}`;
      value.append(buttons ? element("button", words, { type: "button", "data-event": place }) : words, " ");
    }
    if (places.length > 6) value.append(`and ${places.length - 6} others`);
    return value;
  }

  placeTip() {
    const byKey = this.byKey && document.activeElement === this.lanes;
    const i = this.hovered >= 0 ? this.hovered : byKey ? this.shown.chosen : -1;
    const box = this.lanes.getBoundingClientRect();
    let place = this.pointer;
    if (i >= 0 && this.hovered < 0) {
      const x = Math.max(this.picture.x(this.events.from[i]), this.picture.left);
      place = { x: box.left + x, y: box.top + this.picture.middle(i) };
      if (x > box.width || this.picture.middle(i) > box.height) place = null;
    }
    this.tip.hidden = i < 0 || !place;
    if (this.tip.hidden) return;
    this.tip.replaceChildren(...this.description(i, false));
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const below = place.y + 18 + height < innerHeight;
    this.tip.style.left = `${Math.max(4, Math.min(place.x + 14, innerWidth - width - 8))}px`;
    this.tip.style.top = `${below ? place.y + 18 : Math.max(4, place.y - height - 14)}px`;
  }

  // ---- lanes

  makeLabels(labels) {
    this.labels = labels;
    const { lanes } = this.events;
    lanes.forEach((lane, number) => {
      const label = element("button", lane.name, { type: "button", "aria-expanded": "true", title: `${lane.name}, ${lane.host}: ${lane.layer}` });
      label.tabIndex = number ? -1 : 0; // one stop for Tab; then arrows
      label.addEventListener("click", () => this.close(lane, !lane.closed));
      label.addEventListener("keydown", (event) => {
        const next = lanes[number + ({ ArrowDown: 1, ArrowUp: -1 }[event.key] ?? NaN)];
        if (!next) return;
        event.preventDefault();
        label.tabIndex = -1;
        next.label.tabIndex = 0;
        next.label.focus();
      });
      lane.label = label;
      labels.append(label);
    });
  }

  close(lane, closed) {
    lane.closed = closed;
    lane.label.setAttribute("aria-expanded", !closed);
    this.layOut();
  }

  closeAll() {
    const closed = this.events.lanes.some((lane) => !lane.closed);
    for (const lane of this.events.lanes) this.close(lane, closed);
    const button = this.section.querySelector("[data-do=all]");
    button.setAttribute("aria-pressed", closed);
    button.textContent = closed ? "Open all" : "Collapse all";
  }

  // ---- finding

  find() {
    this.shown.found = this.events.find(this.search.value);
    const found = this.shown.found?.reduce((a, b) => a + b, 0);
    this.section.querySelector(".count").textContent =
      found === undefined ? "" : `${found.toLocaleString("en")} of ${this.events.count.toLocaleString("en")} events`;
    this.showList();
    this.redraw();
  }

  walkFound(by) {
    const { found, chosen } = this.shown, { count } = this.events;
    if (!found) return;
    for (let k = 1; k <= count; k++) {
      const i = (((chosen < 0 && by < 0 ? 0 : chosen) + by * k) % count + count) % count;
      if (found[i]) return this.choose(i);
    }
  }

  // The events that were found, or else those on the critical path, as a list.
  showList() {
    const { found } = this.shown, { events } = this;
    const flags = found ?? events.critical, places = [];
    for (let i = 0; i < events.count; i++) if (flags[i]) places.push(i);
    const words = found ? "Events found" : "Events on the critical path";
    this.list.querySelector("summary").textContent = `${words}: ${places.length.toLocaleString("en")}`;
    const items = places.slice(0, MOST_LISTED).map((i) => {
      const lane = events.lanes[events.lane[i]], item = element("li");
      const state = events.state[i] ? `, ${STATES[events.state[i]]}` : "";
      item.append(element("button", `${time(events.from[i])} ${lane.name}: ${events.name(i)}${state}`, { type: "button", "data-event": i }));
      return item;
    });
    if (places.length > MOST_LISTED) items.push(element("li", `and ${places.length - MOST_LISTED} more`));
    this.list.querySelector("ol").replaceChildren(...items);
  }

  // ---- what the reader does

  listenToButtons() {
    const actions = {
      zoomIn: () => this.zoom(0.5), zoomOut: () => this.zoom(2), whole: () => this.whole(),
      back: () => this.walkPath(-1), forth: () => this.walkPath(1), all: () => this.closeAll(),
      help: () => this.section.querySelector("dialog").showModal(),
    };
    this.actions = actions;
    this.section.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-do], [data-event], [data-part]");
      if (!button || !this.section.contains(button)) return;
      const { do: action, event, part } = button.dataset;
      if (action) actions[action]();
      else if (event !== undefined) this.choose(Number(event));
      else if (target.closest("button, rect")) this.choosePart(Number(part) === this.shown.part ? -1 : Number(part));
    });
    this.search.addEventListener("input", () => this.find());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.walkFound(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") {
        this.search.value = "";
        this.find();
        this.lanes.focus();
      }
    });
    this.lanes.addEventListener("scroll", () => this.redraw());
  }

  listenToPointer() {
    const { canvas } = this, place = (event) => this.picture.pointed(event);
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      drag = { ...place(event), view: this.view, moved: false, range: event.shiftKey };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const { x, y } = place(event);
      this.pointer = { x: event.clientX, y: event.clientY };
      if (drag) {
        drag.moved ||= Math.abs(x - drag.x) > 3;
        if (drag.moved && drag.range) this.shown.range = [this.picture.us(drag.x), this.picture.us(x)];
        else if (drag.moved) {
          const by = (drag.x - x) / this.picture.scale;
          this.show(drag.view.from + by, drag.view.to + by);
        }
        canvas.classList.toggle("dragging", drag.moved);
      }
      this.byKey = false;
      this.hovered = drag?.moved ? -1 : this.picture.hit(x, y);
      this.redraw();
    });
    canvas.addEventListener("pointerup", (event) => {
      const { x, y } = place(event), was = drag;
      drag = null;
      canvas.classList.remove("dragging");
      if (!was) return;
      if (this.shown.range) {
        const [a, b] = this.shown.range;
        this.shown.range = null;
        this.show(Math.min(a, b), Math.max(a, b));
      } else if (!was.moved) this.click(x, y);
    });
    canvas.addEventListener("pointercancel", () => { drag = this.shown.range = null; });
    canvas.addEventListener("pointerleave", () => { this.hovered = -1; this.redraw(); });
    canvas.addEventListener("dblclick", (event) => {
      const { x, y } = place(event), i = this.picture.hit(x, y);
      if (i >= 0) this.zoomTo(i);
    });
    // The page scrolls with the wheel until the reader has chosen the timeline.
    canvas.addEventListener("wheel", (event) => {
      const across = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (across) this.pan(Math.sign(event.deltaX || event.deltaY) * 0.1);
      else if (event.ctrlKey || this.lanes.contains(document.activeElement)) this.zoom(1.0015 ** event.deltaY, this.picture.us(place(event).x));
      else return;
      event.preventDefault();
    }, { passive: false });
  }

  click(x, y) {
    if (y >= AXIS && y < HEAD) {
      const at = this.picture.us(x);
      const step = this.events.path.find(({ from, to }) => from <= at && at <= to);
      if (step) this.takeStep(step);
    } else this.choose(this.picture.hit(x, y), { reveals: false });
  }

  listenToKeys() {
    const { actions } = this;
    const keys = {
      ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
      ArrowUp: () => { this.lanes.scrollTop -= 40; }, ArrowDown: () => { this.lanes.scrollTop += 40; },
      "+": () => this.zoomByKey(0.5), "=": () => this.zoomByKey(0.5), "-": () => this.zoomByKey(2), 0: actions.whole,
      Home: () => this.show(this.events.start - this.margin(), this.events.start - this.margin() + this.span()),
      End: () => this.show(this.events.end + this.margin() - this.span(), this.events.end + this.margin()),
      n: actions.forth, j: actions.forth, p: actions.back, k: actions.back,
      Enter: () => (this.shown.chosen < 0 ? this.enter() : this.zoomTo(this.shown.chosen)),
      Escape: () => { this.choose(-1); this.choosePart(-1); },
      c: () => { if (this.shown.chosen >= 0) this.toggleLane(); },
      a: actions.all, "/": () => this.search.focus(), "?": actions.help,
    };
    this.lanes.addEventListener("keydown", (event) => {
      if (event.target !== this.lanes || event.ctrlKey || event.altKey || event.metaKey) return;
      this.byKey = true;
      this.hovered = -1;
      if (event.key === "Tab") {
        if (this.shown.chosen >= 0 && this.walk(event.shiftKey ? -1 : 1)) event.preventDefault();
      } else if (Object.hasOwn(keys, event.key)) {
        event.preventDefault();
        keys[event.key]();
      }
    });
    for (const kind of ["focus", "blur"]) this.lanes.addEventListener(kind, () => this.redraw());
  }

  span() { return this.view.to - this.view.from; }
  margin() { return this.span() * 0.02; }

  // Around the event that is chosen, if it is in view.
  zoomByKey(factor) {
    const at = this.shown.chosen < 0 ? NaN : this.events.from[this.shown.chosen];
    this.zoom(factor, at >= this.view.from && at <= this.view.to ? at : undefined);
  }

  toggleLane() {
    const lane = this.events.lanes[this.events.lane[this.shown.chosen]];
    this.close(lane, !lane.closed);
  }
}

// Keys and values of a scenario, offered while the reader types: below the text, from the schema.

const MOST_OFFERED = 8;

// What may stand where the cursor is: the word that is there, its begin, and the candidates with what they mean.
function offered(text, at, isScenario) {
  const begin = text.lastIndexOf("\n", at - 1) + 1, line = text.slice(begin, at);
  if (line.includes("#")) return null;
  const header = /^\s*\[\[?([\w.-]*)$/.exec(line);
  if (isScenario && header) {
    const sections = [...new Set(Object.keys(FACTS.keys).map((key) => key.split(".")[0]))];
    return { word: header[1], from: at - header[1].length, candidates: sections.map((name) => [name, FACTS.keys[name]?.about ?? ""]) };
  }
  const section = isScenario ? [...text.slice(0, begin).matchAll(/^\s*\[\[?([\w.-]+)\]/gm)].at(-1)?.[1] : undefined;
  const prefix = section ? `${section}.` : "";
  const value = /^\s*([\w.-]+)\s*=\s*("?[\w.+-]*)$/.exec(line);
  if (value) {
    const { values = [] } = FACTS.keys[prefix + value[1]] ?? {};
    return { word: value[2], from: at - value[2].length, candidates: values.map((one) => [one, ""]) };
  }
  const key = /^\s*([\w.-]+)$/.exec(line);
  if (!key) return null;
  const below = Object.keys(FACTS.keys).filter((path) => path.startsWith(prefix) && path !== section);
  return { word: key[1], from: at - key[1].length, candidates: below.map((path) => [path.slice(prefix.length), FACTS.keys[path].about]) };
}

class Completion {
  constructor(area, isScenario) {
    this.area = area;
    this.isScenario = isScenario;
    this.list = element("ul", "", { id: `${area.id}-offers`, role: "listbox", class: "offers", "aria-label": "What may stand here" });
    this.list.hidden = true;
    area.after(this.list);
    area.setAttribute("aria-controls", this.list.id);
    area.setAttribute("aria-autocomplete", "list");
    area.addEventListener("input", () => this.offer());
    area.addEventListener("blur", () => this.close());
    area.addEventListener("keydown", (event) => this.key(event));
    // The text keeps the focus.
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const place = [...this.list.children].indexOf(event.target.closest("li"));
      if (place >= 0) this.take(place);
    });
  }

  offer() {
    const { selectionStart: at, selectionEnd, value } = this.area;
    const found = at === selectionEnd ? offered(value, at, this.isScenario) : null;
    const words = (found?.candidates ?? []).filter(([name]) => found.word && name.startsWith(found.word) && name !== found.word);
    if (!words.length) return this.close();
    this.found = found;
    this.words = words.sort(([a], [b]) => a.length - b.length).slice(0, MOST_OFFERED); // the least that can be meant first
    this.list.replaceChildren(...this.words.map(([name, about], place) => {
      const item = element("li", "", { role: "option", id: `${this.list.id}-${place}`, "aria-selected": "false" });
      item.append(element("code", name), about && ` ${about}`);
      return item;
    }));
    this.list.hidden = this.moved = false;
    this.choose(0);
  }

  choose(place) {
    this.chosen = (place + this.words.length) % this.words.length;
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", i === this.chosen));
    this.area.setAttribute("aria-activedescendant", `${this.list.id}-${this.chosen}`);
  }

  // Enter takes what the reader has gone to. Otherwise it begins a new line, as always.
  key(event) {
    if (this.list.hidden) return;
    const move = (by) => {
      this.choose(this.chosen + by);
      this.moved = true;
    };
    const take = () => this.take(this.chosen);
    const acts = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Tab: take, Escape: () => this.close(), ...(this.moved && { Enter: take }) };
    if (event.shiftKey || !Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  }

  take(place) {
    const { from } = this.found, [name] = this.words[place], { value, selectionEnd } = this.area;
    this.area.value = value.slice(0, from) + name + value.slice(selectionEnd);
    this.area.setSelectionRange(from + name.length, from + name.length);
    this.close();
    this.area.dispatchEvent(new Event("input"));
  }

  close() {
    this.list.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
  }
}

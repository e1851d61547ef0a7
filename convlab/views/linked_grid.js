// Linked grids: Python draws the picture, this module lights what belongs together. It knows no view:
// a picture is an SVG whose g.cl-panel hold g.cl-cell in the order of their numbers. Its metadata is JSON: the title,
// links as pairs of 16-bit numbers in base64 and, if there are steps, frames
// {caption, here, lit: numbers, values: {number: text}, kinds: {number: kind}} and, where there are some, links of the
// step's own, and arrows as the data of two paths.

const MOVES = {
  ArrowLeft: (row, col) => [row, col - 1],
  ArrowRight: (row, col) => [row, col + 1],
  ArrowUp: (row, col) => [row - 1, col],
  ArrowDown: (row, col) => [row + 1, col],
  Home: (row) => [row, 0],
  End: (row) => [row, Infinity],
};
const PACES = [1, 4, 10, 30, 60]; // steps a second
const READING = 0; // of these paces: time to read each caption
const WATCHING = 1; // where there are too many steps to read them all
const MANY = 20;
const HAIR = 4; // milliseconds that a step may come too early, so that none waits for the screen's next picture
const HINT = "Point at a cell, or press Tab and the arrow keys, to see what belongs to it.";

const clamp = (value, limit) => Math.max(0, Math.min(limit, value));

function element(tag, className, parent, attributes = {}) {
  const made = parent.appendChild(document.createElement(tag));
  made.className = className;
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  return made;
}

// The cells of one panel, numbered from `first`, row by row.
class Panel {
  constructor(group, first) {
    this.name = group.dataset.name;
    this.cols = Number(group.dataset.cols);
    this.first = first;
    this.cells = [...group.querySelectorAll(".cl-cell")];
    this.rows = this.cells.length / this.cols;
    this.rove(this.cells[0]);
  }

  has(id) {
    return id >= this.first && id < this.first + this.cells.length;
  }

  place(id) {
    return [Math.floor((id - this.first) / this.cols), (id - this.first) % this.cols];
  }

  at(row, col) {
    return this.first + clamp(row, this.rows - 1) * this.cols + clamp(col, this.cols - 1);
  }

  // Tab stops at one cell of each panel: the one that had the focus last.
  rove(cell) {
    this.cells.forEach((each) => each.removeAttribute("tabindex"));
    cell.setAttribute("tabindex", "0");
  }

  // "9 of input (2 padding)", for the cells among the given ones that are here.
  count(ids) {
    const mine = ids.filter((id) => this.has(id));
    const asides = {};
    for (const { dataset } of mine.map((id) => this.cells[id - this.first])) {
      if (dataset.aside) asides[dataset.aside] = (asides[dataset.aside] ?? 0) + 1;
    }
    const aside = Object.entries(asides).map(([kind, some]) => `${some} ${kind}`).join(", ");
    return mine.length ? [`${mine.length} of ${this.name}${aside && ` (${aside})`}`] : [];
  }
}

// For each cell that has some, the numbers of the cells that light with it.
function neighbours(links) {
  const ends = new Uint16Array(Uint8Array.from(atob(links), (letter) => letter.charCodeAt(0)).buffer);
  const sets = new Map(); // of sets, since a pair may be there twice, or turned round
  const add = (a, b) => sets.set(a, (sets.get(a) ?? new Set()).add(b));
  for (let i = 0; i < ends.length; i += 2) {
    add(ends[i], ends[i + 1]);
    add(ends[i + 1], ends[i]);
  }
  return sets;
}

// What is to be done to get from some texts or kinds by number to others; undefined is a cell at rest.
function* changes(before, after) {
  for (const id of Object.keys(before)) if (!(id in after)) yield [id, undefined];
  for (const [id, value] of Object.entries(after)) if (before[id] !== value) yield [id, value];
}

class LinkedGrid {
  // `press` is told which cell of a switch panel was pressed.
  constructor(root, press = () => {}) {
    root.classList.add("cl-root");
    this.press = press;
    this.figure = element("div", "cl-figure", root);
    this.steps = this.stepper(root);
    const status = element("p", "cl-status", root, { role: "status" }); // read out when it changes
    this.label = element("span", "", status, { "aria-hidden": "true" }); // the focused cell says it already
    this.words = element("span", "", status);
    this.panels = [];
    this.hovered = this.focused = null; // numbers of cells
    this.frame = 0;
    this.listen();
  }

  // All listeners sit on the figure, so that a new picture brings none and leaves none behind.
  listen() {
    const on = (type, handle) => this.figure.addEventListener(type, handle);
    on("pointerover", ({ target }) => this.hover(target));
    on("pointerleave", () => this.hover(this.figure));
    on("focusin", ({ target }) => this.focus(this.number(target)));
    on("focusout", () => this.drawing || this.focus(null));
    on("click", ({ target }) => this.click(this.number(target)));
    on("keydown", (event) => this.key(event));
  }

  stepper(root) {
    const bar = element("div", "cl-steps", root, { role: "group", "aria-label": "Steps" });
    const button = (text, name, press) => {
      const made = element("button", "cl-step", bar, { type: "button", "aria-label": name });
      made.textContent = text;
      made.addEventListener("click", press);
      return made;
    };
    button("‹", "Step back", () => this.go(this.frame - 1));
    this.player = button("▶", "Play", () => this.play(!this.playing));
    button("›", "Step on", () => this.go(this.frame + 1));
    this.slider = element("input", "cl-slide", bar, { type: "range", min: 1, "aria-label": "Step" });
    this.slider.addEventListener("input", () => this.go(this.slider.valueAsNumber - 1));
    // In JupyterLab, arrows that are not stopped leave for the next cell.
    this.slider.addEventListener("keydown", (event) => event.key in MOVES && event.stopPropagation());
    this.pace = element("select", "cl-pace", bar, { "aria-label": "Speed" });
    PACES.forEach((pace) => (element("option", "", this.pace, { value: pace }).textContent = `${pace} a second`));
    this.pace.selectedIndex = WATCHING;
    this.pace.addEventListener("keydown", (event) => event.stopPropagation());
    this.caption = element("span", "cl-caption", bar, { "aria-live": "polite" });
    return bar;
  }

  show(svg) {
    const [hovered, focused] = [this.hovered, this.focused].map((id) => this.remember(id));
    this.drawing = true; // taking the focused cell away is no wish of the reader's to leave it
    this.figure.innerHTML = svg;
    this.svg = this.figure.firstElementChild;
    this.picture = JSON.parse(this.svg.querySelector("metadata").textContent);
    this.cells = [...this.svg.querySelectorAll(".cl-cell")];
    if (this.cells.length) this.svg.setAttribute("role", "group"); // an image on a page, a group to walk through here
    this.numbers = new Map(this.cells.map((cell, id) => [cell, id]));
    this.links = neighbours(this.picture.links);
    this.arrows = [...this.svg.querySelectorAll(".cl-arrows path")];
    this.panels = [];
    for (const group of this.svg.querySelectorAll(".cl-panel")) {
      const first = this.panels.reduce((sum, panel) => sum + panel.cells.length, 0);
      this.panels.push(new Panel(group, first));
    }
    [this.hovered, this.focused] = [hovered, focused].map((memory) => this.recall(memory));
    this.rests = new Map();
    this.shown = { values: {}, kinds: {} };
    this.marked = new Set();
    this.slider.max = this.picture.frames.length;
    this.pace.hidden = this.picture.frames.length < MANY;
    this.step(this.frame);
    this.move(this.focused);
    this.drawing = false;
  }

  // A cell keeps its place, not its number, when a panel changes its size.
  remember(id) {
    const panel = id === null ? undefined : this.panel(id);
    return panel && { name: panel.name, place: panel.place(id) };
  }

  recall(memory) {
    const panel = memory && this.panels.find((each) => each.name === memory.name);
    return panel ? panel.at(...memory.place) : null;
  }

  panel(id) {
    return this.panels.find((each) => each.has(id));
  }

  number(target) {
    return this.numbers.get(target.closest(".cl-cell")) ?? null;
  }

  hover(target) {
    const id = this.number(target);
    if (id === null && target.closest(".cl-panel")) return; // the hair's breadth between two cells
    this.hovered = id;
    this.light();
  }

  focus(id) {
    this.focused = id;
    this.light();
  }

  move(id) {
    if (id === null) return;
    this.panel(id).rove(this.cells[id]);
    this.cells[id].focus({ preventScroll: this.drawing });
    this.focus(id); // after Escape the cell still has the browser's focus, and no event comes
  }

  click(id) {
    this.move(id);
    if (id !== null && this.cells[id].closest(".cl-switch")) this.press(id);
  }

  key(event) {
    if (this.focused === null) return;
    this.hovered = null; // the hand that moved last is the one that counts
    if (event.key === "Escape") {
      this.focus(null);
    } else if (event.key === "Enter" || event.key === " ") {
      this.click(this.focused);
    } else if (event.key in MOVES) {
      const panel = this.panel(this.focused);
      const [row, col] = MOVES[event.key](...panel.place(this.focused));
      const edge = event.key === "End" ? Infinity : 0;
      this.move(panel.at(event.ctrlKey ? edge : row, col));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // Steps come with the screen's pictures, so that none is drawn which nobody sees, and none is left out.
  play(on) {
    cancelAnimationFrame(this.playing);
    this.playing = on ? requestAnimationFrame((now) => this.tick(now, now)) : undefined;
    this.player.textContent = on ? "❚❚" : "▶";
    this.player.setAttribute("aria-label", on ? "Pause" : "Play");
    this.caption.setAttribute("aria-live", on && !this.pace.hidden ? "off" : "polite"); // too quick to be read out
    if (on && this.frame >= this.picture.frames.length - 1) this.step(0);
  }

  tick(now, last) {
    const due = last + 1000 / (this.pace.hidden ? PACES[READING] : Number(this.pace.value));
    const late = now + HAIR >= due;
    if (late && !(this.svg.isConnected && this.frame < this.picture.frames.length - 1)) return this.play(false);
    if (late) this.step(this.frame + 1);
    const begin = late ? Math.max(due, now - 1000 / PACES.at(-1)) : last; // a slow machine does not hurry afterwards
    this.playing = requestAnimationFrame((next) => this.tick(next, begin));
  }

  // A hand at the steps stops their play.
  go(index) {
    this.play(false);
    this.step(index);
  }

  step(index) {
    const { frames } = this.picture;
    this.frame = clamp(index, frames.length - 1);
    this.steps.hidden = frames.length === 0;
    const { caption = "", values = {}, kinds = {}, links = "", arrows = [] } = frames[this.frame] ?? {};
    this.passing = neighbours(links);
    this.arrows.forEach((path, i) => path.setAttribute("d", arrows[i] ?? ""));
    // Only what differs from the step before is touched: most cells of a long animation stay as they are.
    for (const [id, text] of changes(this.shown.values, values)) this.write(id, text);
    for (const [id, kind] of changes(this.shown.kinds, kinds)) this.paint(id, kind);
    this.shown = { values, kinds };
    this.slider.value = this.frame + 1;
    this.caption.textContent = `${this.frame + 1} of ${frames.length}: ${caption}`;
    this.light();
  }

  // What a cell is while no step changes it.
  rest(id) {
    if (!this.rests.has(id)) {
      const cell = this.cells[id];
      const [place, label] = [cell.querySelector("text") ?? {}, cell.getAttribute("aria-label")];
      const spoken = cell.closest(".cl-spoken") !== null;
      this.rests.set(id, { place, label, spoken, text: place.textContent, kind: cell.classList.item(1) });
    }
    return this.rests.get(id);
  }

  // Small cells show no text.
  write(id, text) {
    const rest = this.rest(id);
    rest.place.textContent = text ?? rest.text;
    if (rest.spoken) this.cells[id].setAttribute("aria-label", text ? `${rest.label}: ${text}` : rest.label);
  }

  paint(id, kind) {
    const { classList } = this.cells[id];
    const rest = this.rest(id);
    classList.replace(classList.item(1), kind ? `cl-${kind}` : rest.kind);
  }

  linked(id) {
    return [...new Set([...(this.links.get(id) ?? []), ...(this.passing.get(id) ?? [])])];
  }

  light() {
    const pointed = this.hovered ?? this.focused;
    const frame = this.picture.frames[this.frame] ?? { here: null, lit: [] };
    const { here, lit } = pointed === null ? frame : { here: pointed, lit: this.linked(pointed) };
    const marks = new Set(lit.map((id) => this.cells[id]));
    this.marked.forEach((cell) => marks.has(cell) || cell.classList.remove("cl-lit"));
    marks.forEach((cell) => cell.classList.add("cl-lit"));
    this.marked = marks;
    this.svg.querySelector(".cl-here")?.classList.remove("cl-here");
    if (here !== null) this.cells[here].classList.add("cl-here");
    this.svg.classList.toggle("cl-active", here !== null || lit.length > 0);
    this.say(pointed, lit);
  }

  say(here, lit) {
    const counts = this.panels.flatMap((panel) => panel.count(lit));
    const words = counts.length ? `Lit: ${counts.join(", ")}.` : "Nothing belongs to it.";
    this.label.textContent = here === null ? "" : `${this.cells[here].getAttribute("aria-label")}. `;
    const rest = this.cells.length ? `${this.picture.title}. ${HINT}` : this.picture.title;
    this.words.textContent = here === null ? rest : words;
  }
}

// Make a picture that stands in a page answer to hover and keys, without a kernel: for exported notebooks.
export function enliven(svg) {
  const root = document.createElement("div");
  svg.replaceWith(root);
  new LinkedGrid(root).show(svg.outerHTML);
}

// A link with `?explore.window-3f=h:9,w:7` opens the page with the explorer of that name in that state. JupyterLab takes
// the query out of the address, so it is the address that the page was loaded from which counts.
function wished(call) {
  const [loaded] = performance.getEntriesByType("navigation");
  return new URL(loaded?.name ?? location.href).searchParams.get(call) ?? "";
}

function linkButton(root, model) {
  const call = model.get("call");
  if (!call) return;
  const button = element("button", "cl-link", root, { type: "button" });
  const rest = () => (button.textContent = "Copy a link to this state");
  button.addEventListener("click", async () => {
    const link = new URL(location.pathname, location.href);
    link.searchParams.set(call, model.get("state"));
    try {
      await navigator.clipboard.writeText(link.href);
      button.textContent = "Copied";
      setTimeout(rest, 2000);
    } catch {
      window.prompt("The link to this state:", link.href); // pages without HTTPS have no clipboard
    }
  });
  rest();
  if (wished(call) && !model.get("wish")) {
    model.set("wish", wished(call));
    model.save_changes();
  }
}

export default {
  render({ model, el }) {
    const grid = new LinkedGrid(el, (id) => {
      model.set("pressed", [id, model.get("pressed")[1] + 1]);
      model.save_changes();
    });
    const show = () => grid.show(model.get("picture"));
    model.on("change:picture", show);
    show();
    linkButton(el, model);
    return () => {
      grid.play(false);
      model.off("change:picture", show);
    };
  },
};

// Linked grids: Python draws the picture, this module lights what belongs together. It knows no view:
// a picture is an SVG whose g.cl-panel hold g.cl-cell in the order of their numbers, with pairs of numbers
// as links and, if there are steps, with frames {caption, here, lit: numbers, values: {number: text}}.

const MOVES = {
  ArrowLeft: (row, col) => [row, col - 1],
  ArrowRight: (row, col) => [row, col + 1],
  ArrowUp: (row, col) => [row - 1, col],
  ArrowDown: (row, col) => [row + 1, col],
  Home: (row) => [row, 0],
  End: (row) => [row, Infinity],
};
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

// For each cell, the numbers of the cells that light with it.
function neighbours(links, count) {
  // A copy, because the bytes may begin at an odd address of a message.
  const ends = new Uint32Array(links.buffer.slice(links.byteOffset, links.byteOffset + links.byteLength));
  const lists = Array.from({ length: count }, () => []);
  for (let i = 0; i < ends.length; i += 2) {
    lists[ends[i]].push(ends[i + 1]);
    lists[ends[i + 1]].push(ends[i]);
  }
  return lists;
}

class LinkedGrid {
  constructor(root) {
    root.classList.add("cl-root");
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
    on("click", ({ target }) => this.move(this.number(target)));
    on("keydown", (event) => this.key(event));
  }

  stepper(root) {
    const bar = element("div", "cl-steps", root, { role: "group", "aria-label": "Steps" });
    for (const [text, name, by] of [["‹", "Step back", -1], ["›", "Step on", 1]]) {
      const button = element("button", "cl-step", bar, { type: "button", "aria-label": name });
      button.textContent = text;
      button.addEventListener("click", () => this.step(this.frame + by));
    }
    this.caption = element("span", "cl-caption", bar, { "aria-live": "polite" });
    return bar;
  }

  show(picture) {
    const [hovered, focused] = [this.hovered, this.focused].map((id) => this.remember(id));
    this.picture = picture;
    this.drawing = true; // taking the focused cell away is no wish of the reader's to leave it
    this.figure.innerHTML = picture.svg;
    this.svg = this.figure.firstElementChild;
    this.svg.setAttribute("role", "group"); // an image on a page, a group to walk through here
    this.cells = [...this.svg.querySelectorAll(".cl-cell")];
    this.numbers = new Map(this.cells.map((cell, id) => [cell, id]));
    this.links = neighbours(picture.links, this.cells.length);
    this.panels = [];
    for (const group of this.svg.querySelectorAll(".cl-panel")) {
      const first = this.panels.reduce((sum, panel) => sum + panel.cells.length, 0);
      this.panels.push(new Panel(group, first));
    }
    [this.hovered, this.focused] = [hovered, focused].map((memory) => this.recall(memory));
    this.unchanged = new Map();
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
    // While a cell is lit by the keyboard, keys walk the grid and not JupyterLab's cells; Escape gives them back.
    this.figure.toggleAttribute("data-lm-suppress-shortcuts", id !== null);
    this.light();
  }

  move(id) {
    if (id === null) return;
    this.panel(id).rove(this.cells[id]);
    this.cells[id].focus({ preventScroll: this.drawing });
    this.focus(id); // after Escape the cell still has the browser's focus, and no event comes
  }

  key(event) {
    if (this.focused === null) return;
    this.hovered = null; // the hand that moved last is the one that counts
    if (event.key === "Escape") {
      this.focus(null);
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

  step(index) {
    const { frames } = this.picture;
    this.frame = clamp(index, frames.length - 1);
    this.steps.hidden = frames.length === 0;
    this.unchanged.forEach((text, id) => this.write(id, text));
    this.unchanged.clear();
    const { caption = "", values = {} } = frames[this.frame] ?? {};
    Object.entries(values).forEach(([id, text]) => this.unchanged.set(id, this.write(id, text)));
    this.caption.textContent = `${this.frame + 1} of ${frames.length}: ${caption}`;
    this.light();
  }

  // Write into a cell, and give back what stood there; small cells show no text.
  write(id, text) {
    const place = this.cells[id].querySelector("text");
    const before = place?.textContent;
    if (place) place.textContent = text;
    return before;
  }

  light() {
    const pointed = this.hovered ?? this.focused;
    const frame = this.picture.frames[this.frame] ?? { here: null, lit: [] };
    const { here, lit } = pointed === null ? frame : { here: pointed, lit: this.links[pointed] };
    const marked = this.svg.querySelectorAll(".cl-lit, .cl-here");
    marked.forEach((cell) => cell.classList.remove("cl-lit", "cl-here"));
    lit.forEach((id) => this.cells[id].classList.add("cl-lit"));
    if (here !== null) this.cells[here].classList.add("cl-here");
    this.svg.classList.toggle("cl-active", here !== null || lit.length > 0);
    this.say(pointed, lit);
  }

  say(here, lit) {
    const counts = this.panels.flatMap((panel) => panel.count(lit));
    const words = counts.length ? `Lit: ${counts.join(", ")}.` : "Nothing belongs to it.";
    this.label.textContent = here === null ? "" : `${this.cells[here].getAttribute("aria-label")}. `;
    this.words.textContent = here === null ? `${this.picture.title}. ${HINT}` : words;
  }
}

export default {
  render({ model, el }) {
    const grid = new LinkedGrid(el);
    const show = () => grid.show(model.get("picture"));
    model.on("change:picture", show);
    show();
    return () => model.off("change:picture", show);
  },
};

import { Interaction, create, newId } from "./base.js";
import { PlacingInteraction } from "./placing.js";
import { howMany, words } from "./words.js";

/** Pairs from one list to another: things that are put to others, or a table to tick (`qti-match-tabular`). */
export class MatchInteraction extends PlacingInteraction {
  defaultMax = 1;
  /** The boxes of the table, by pair. */
  #boxes;

  build() {
    const [from, to] = [...this.querySelectorAll(":scope > qti-simple-match-set")].map((set) => [...set.children]);
    if (this.classList.contains("qti-match-tabular")) this.#buildTable(from, to);
    else this.#buildLists(from, to);
    for (const set of this.querySelectorAll(":scope > qti-simple-match-set")) set.remove();
  }

  #buildLists(from, to) {
    this.nameGroup("group", words.placeHint, words.pairs);
    const places = create("div", { class: "qti-targets" });
    const targets = to.map((element) => {
      const part = create("div");
      places.append(create("div", { class: "qti-target" }, create("div", { class: "qti-target-name" }, ...element.childNodes), part));
      return { element, part };
    });
    const named = targets.map(({ element, part }) => ({ element, part, name: this.nameOf(part.previousElementSibling) }));
    const bank = this.addTokens(from, words.bank);
    this.append(places);
    this.placeBank(bank, places);
    this.addPlaces(named);
  }

  #buildTable(from, to) {
    this.nameGroup("group", howMany(this.number("min-associations"), this.number("max-associations", this.defaultMax)), words.pairs);
    const isRadio = from.every((row) => row.getAttribute("match-max") === "1");
    const head = create("tr", {}, create("td", {}, this.getAttribute("data-first-column-header") ?? ""));
    head.append(...to.map((column) => create("th", { scope: "col" }, ...column.childNodes)));
    const names = [...head.querySelectorAll("th")].map((cell) => this.nameOf(cell));
    this.#boxes = [];
    const rows = from.map((row) => {
      const name = create("th", { scope: "row" }, ...row.childNodes);
      const group = newId();
      const cells = to.map((column, at) => {
        const input = create("input", {
          type: isRadio ? "radio" : "checkbox",
          name: isRadio ? group : null,
          value: `${row.getAttribute("identifier")} ${column.getAttribute("identifier")}`,
          "aria-label": `${this.nameOf(name)}: ${names[at]}`,
        });
        this.#boxes.push({ input, row, column });
        return create("td", { "data-column": names[at] }, create("label", {}, input));
      });
      return create("tr", {}, name, ...cells);
    });
    this.append(create("table", { class: "qti-grid" }, create("thead", {}, head), create("tbody", {}, ...rows)));
    this.addEventListener("change", ({ target }) => this.#tick(target));
  }

  #tick(input) {
    const { row, column } = this.#boxes.find((box) => box.input === input);
    const count = (of) => this.#boxes.filter((box) => box.input.checked && of(box)).length;
    const limits = [
      [row, count((box) => box.row === row)],
      [column, count((box) => box.column === column)],
    ];
    const over = limits.find(([part, used]) => Number(part.getAttribute("match-max")) > 0 && used > Number(part.getAttribute("match-max")));
    const max = this.number("max-associations", this.defaultMax);
    if (over || (max > 0 && count(() => true) > max)) {
      input.checked = false;
      this.show(this.getAttribute("data-max-selections-message") || words.atMost(over ? Number(over[0].getAttribute("match-max")) : max));
      return;
    }
    this.changed();
  }

  get value() {
    return this.#boxes ? this.response(this.#boxes.filter(({ input }) => input.checked).map(({ input }) => input.value)) : super.value;
  }

  set value(response) {
    if (!this.#boxes) {
      super.value = response;
      return;
    }
    const pairs = Interaction.values(response);
    for (const { input } of this.#boxes) input.checked = pairs.includes(input.value);
  }

  problem() {
    if (!this.#boxes) return super.problem();
    const min = this.number("min-associations");
    if (this.#boxes.filter(({ input }) => input.checked).length < min) return this.getAttribute("data-min-selections-message") || words.atLeast(min);
    for (const part of new Set(this.#boxes.flatMap(({ row, column }) => [row, column]))) {
      const used = this.#boxes.filter(({ input, row, column }) => input.checked && (row === part || column === part)).length;
      if (used < Number(part.getAttribute("match-min") ?? 0)) return words.atLeast(Number(part.getAttribute("match-min")));
    }
    return "";
  }
}

// Points on a picture. A pointer sets a point where it is; with keys, a cross is moved over the picture.
import { Interaction, announce, create } from "./base.js";
import { makeDraggable } from "./drag.js";
import { Picture } from "./picture.js";
import { words } from "./words.js";

/** The cross moves so far with an arrow key, in parts of the picture; with Shift, by one pixel. */
const STEP_PARTS = 40;
const STEPS = { ArrowUp: [0, -1], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowRight: [1, 0] };

class PointsInteraction extends Interaction {
  /** Points at most where the item says nothing; 0 is any number. */
  defaultMax = 0;
  #points = [];
  #picture;
  #surface;
  #cross;
  #list;
  /** Where the cross is; `null` before a key was pressed. */
  #at = null;

  /** Makes a picture the surface. `markerOf` returns the content of a point's mark. */
  buildSurface(picture, hint, markerOf = () => []) {
    this.#picture = picture;
    this.markerOf = markerOf;
    this.#surface = create("div", { class: "qti-surface", tabindex: "0", role: "application", "aria-label": words.surface, "aria-describedby": hint });
    this.#cross = create("div", { class: "qti-cross", "aria-hidden": "true", hidden: true });
    this.#list = create("ul", { class: "qti-pairs", "aria-label": words.points });
    picture.overlay.remove();
    picture.stage.append(this.#surface, this.#cross);
    this.append(this.#list);
    this.#surface.addEventListener("click", ({ clientX: x, clientY: y }) => this.add(picture.pointAt({ x, y })));
    this.#surface.addEventListener("keydown", (event) => this.#key(event));
    this.#surface.addEventListener("blur", () => (this.#cross.hidden = true));
    this.#render();
  }

  get #max() {
    return this.getAttribute("cardinality") === "single" ? 1 : this.number("max-choices", this.defaultMax);
  }

  add(point) {
    if (this.isDisabled) return;
    if (this.#max === 1) this.#points = [];
    if (this.#max > 0 && this.#points.length >= this.#max) {
      this.show(this.getAttribute("data-max-selections-message") || words.atMostPoints(this.#max));
      return;
    }
    this.#points = [...this.#points, point];
    this.changed();
    this.#render();
    announce(words.pointSet(...point));
  }

  #move(at, point) {
    this.#points = this.#points.map((old, other) => (other === at ? point : old));
    this.changed();
    this.#render();
    announce(words.pointSet(...point));
  }

  #remove(at) {
    this.#points = this.#points.filter((_, other) => other !== at);
    this.changed();
    this.#render();
    announce(words.pointRemoved);
    this.#surface.focus();
  }

  #key(event) {
    const { width, height } = this.#picture;
    if (this.isDisabled) return;
    if (event.key in STEPS) {
      const [x, y] = STEPS[event.key];
      const step = event.shiftKey ? 1 : Math.max(Math.round(Math.max(width, height) / STEP_PARTS), 1);
      const [left, top] = this.#at ?? this.#points.at(-1) ?? [width / 2, height / 2];
      this.#at = this.#picture.inside(left + x * step, top + y * step);
      announce(words.crossAt(...this.#at));
    } else if (event.key === "Enter" || event.key === " ") {
      this.#at ??= this.#picture.inside(width / 2, height / 2);
      this.add(this.#at);
    } else if ((event.key === "Delete" || event.key === "Backspace") && this.#points.length > 0) {
      this.#remove(this.#points.length - 1);
    } else return;
    event.preventDefault();
    this.#cross.hidden = false;
    this.#picture.place(this.#cross, this.#at ?? [width / 2, height / 2]);
  }

  #render() {
    for (const old of this.#picture.stage.querySelectorAll(":scope > .qti-point")) old.remove();
    this.#points.forEach((point, at) => {
      const mark = create("div", { class: "qti-point", "aria-hidden": "true" }, ...this.markerOf());
      this.#picture.place(mark, point);
      makeDraggable(
        mark,
        () => !this.isDisabled,
        (target, where) => target && this.#move(at, this.#picture.pointAt(where)),
      );
      this.#picture.stage.append(mark);
    });
    this.#list.replaceChildren(
      ...this.#points.map((point, at) => {
        const remove = create("button", { type: "button", class: "qti-remove", "aria-label": words.removePoint(at + 1) }, "×");
        remove.disabled = this.isDisabled;
        remove.addEventListener("click", () => this.#remove(at));
        return create("li", {}, create("span", {}, words.point(at + 1, ...point)), remove);
      }),
    );
    this.#list.hidden = this.#points.length === 0;
  }

  get value() {
    return this.response(this.#points.map(([x, y]) => `${x} ${y}`));
  }

  set value(response) {
    this.#points = Interaction.values(response).map((point) => point.split(" ").map(Number));
    this.#render();
  }

  disable() {
    super.disable();
    this.#render();
  }

  problem() {
    const min = this.number("min-choices");
    return this.#points.length < min ? this.getAttribute("data-min-selections-message") || words.setAtLeast(min) : "";
  }
}

/** Points on a picture. */
export class SelectPointInteraction extends PointsInteraction {
  build() {
    this.nameGroup("group", words.pointHint, words.points);
    this.buildSurface(new Picture(this), this.getAttribute("aria-describedby"));
  }
}

/** A picture put onto the picture of its stage. */
export class PositionObjectInteraction extends PointsInteraction {
  defaultMax = 1;

  build() {
    this.nameGroup("group", words.pointHint, words.points);
    const stage = this.closest("qti-position-object-stage") ?? this;
    const object = this.querySelector(":scope > :is(img, .qti-missing-file)");
    object?.remove();
    // Interactions of one stage share its picture.
    stage.picture ??= new Picture(stage);
    if (!object) return this.buildSurface(stage.picture, this.getAttribute("aria-describedby"));
    const token = create("div", { class: "qti-token qti-object" }, object.cloneNode(true));
    this.append(create("div", { class: "qti-bank" }, token));
    this.buildSurface(stage.picture, this.getAttribute("aria-describedby"), () => [object.cloneNode(true)]);
    makeDraggable(
      token,
      () => !this.isDisabled,
      (target, at) => target && stage.picture.stage.contains(target) && this.add(stage.picture.pointAt(at)),
    );
  }
}

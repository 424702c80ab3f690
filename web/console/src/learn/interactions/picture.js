// Pictures with places on them: the base of the graphic interactions. The places are shapes of an SVG over the picture.
import { create } from "./base.js";
import { words } from "./words.js";

/** A picture whose size is not known has this one, in the item's pixels. */
const UNKNOWN_SIZE = [400, 300];

const PICTURES = "img, .qti-missing-file";

/** The picture of an interaction. */
export class Picture {
  /** The element around the picture and what lies on it. */
  stage = create("div", { class: "qti-stage" });
  /** The SVG on the picture. Its units are the item's pixels. */
  overlay = create("svg:svg", { class: "qti-overlay" });
  #whenResized = [];

  /** Takes the first picture of an element. `places` have coordinates, which are used if the picture has no size. */
  constructor(parent, places = []) {
    const picture = parent.querySelector(`:scope > :is(${PICTURES}), :scope > p > :is(${PICTURES})`) ?? create("span", { class: "qti-missing-file" });
    if (picture.parentElement) picture.before(this.stage);
    else parent.append(this.stage);
    this.stage.append(picture, this.overlay);
    const size = (name) => Number.parseFloat(picture.getAttribute(name) ?? picture.getAttribute(`data-${name}`));
    const [width, height] = [size("width"), size("height")];
    if (width && height) {
      this.#resize(width, height);
      return;
    }
    this.#resize(...(extent(places) ?? UNKNOWN_SIZE));
    const measure = () => picture.naturalWidth && this.#resize(picture.naturalWidth, picture.naturalHeight);
    if (picture.complete) measure();
    else picture.addEventListener("load", measure);
  }

  #resize(width, height) {
    [this.width, this.height] = [width, height];
    this.overlay.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.stage.style.width = `${width}px`;
    this.stage.style.aspectRatio = `${width} / ${height}`;
    // Placed elements compute their places from the size.
    this.stage.style.setProperty("--picture-width", width);
    this.stage.style.setProperty("--picture-height", height);
    for (const work of this.#whenResized) work();
  }

  /** Does work when the size of the picture becomes known after its first use. */
  onResize(work) {
    this.#whenResized.push(work);
  }

  /** The point of the item's picture at a place of the window. */
  pointAt({ x, y }) {
    const { left, top, width, height } = this.stage.getBoundingClientRect();
    return this.inside(((x - left) / width) * this.width, ((y - top) / height) * this.height);
  }

  /** The nearest whole point of the picture. */
  inside(x, y) {
    const clamp = (value, max) => Math.min(Math.max(Math.round(value), 0), max);
    return [clamp(x, this.width), clamp(y, this.height)];
  }

  /** Puts an element at a point, or over a range of the picture. */
  place(element, [left, top, right, bottom]) {
    element.style.left = `calc(${left} / var(--picture-width) * 100%)`;
    element.style.top = `calc(${top} / var(--picture-height) * 100%)`;
    if (right === undefined) return;
    element.style.width = `calc(${right - left} / var(--picture-width) * 100%)`;
    element.style.height = `calc(${bottom - top} / var(--picture-height) * 100%)`;
  }

  /** Replaces elements with coordinates by places that a student activates, with a click, Enter or the space bar. */
  addHotspots(elements, role) {
    this.overlay.setAttribute("role", "group");
    this.overlay.setAttribute("aria-label", words.spots);
    return elements.map((element, at) => {
      const part = create("svg:g", { class: "qti-hotspot", role, tabindex: "0", "aria-label": nameOfSpot(element, at) });
      part.append(shapeOf(element, this.width, this.height));
      // Percentages and the shape of the whole picture depend on the size.
      this.onResize(() => part.firstElementChild.replaceWith(shapeOf(element, this.width, this.height)));
      part.dataset.identifier = element.getAttribute("identifier");
      part.addEventListener("keydown", (event) => {
        if (event.key !== " " && event.key !== "Enter") return;
        event.preventDefault();
        part.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      });
      this.overlay.append(part);
      element.remove();
      return part;
    });
  }

  /** The range of the picture that an element's coordinates cover. */
  rangeOf(element) {
    return bounds(shapeOf(element, this.width, this.height));
  }
}

/** The name of a place for a screen reader. */
export const nameOfSpot = (element, at) => element.getAttribute("hotspot-label") || element.getAttribute("aria-label") || words.spot(at + 1);

/** The middle of a hotspot, in the item's pixels. */
export function middleOf(part) {
  const [left, top, right, bottom] = bounds(part.firstElementChild);
  return [(left + right) / 2, (top + bottom) / 2];
}

/** The numbers of coordinates. */
function coordinates(element, width, height) {
  const parts = (element.getAttribute("coords") ?? "").split(/[\s,]+/).filter(Boolean);
  return parts.map((part, at) => (part.endsWith("%") ? (Number.parseFloat(part) / 100) * (at % 2 ? height : width) : Number(part)));
}

/** The shape of a hotspot as SVG. */
function shapeOf(element, width, height) {
  const [a = 0, b = 0, c = 0, d = 0, ...more] = coordinates(element, width, height);
  switch (element.getAttribute("shape")) {
    case "circle":
      return create("svg:circle", { cx: a, cy: b, r: c });
    case "ellipse":
      return create("svg:ellipse", { cx: a, cy: b, rx: c, ry: d });
    case "poly":
      return create("svg:polygon", { points: [a, b, c, d, ...more].join(" ") });
    case "rect":
      return create("svg:rect", { x: Math.min(a, c), y: Math.min(b, d), width: Math.abs(c - a), height: Math.abs(d - b), rx: 4 });
    default:
      return create("svg:rect", { x: 0, y: 0, width, height });
  }
}

/** Left, top, right and bottom of a shape. */
function bounds(shape) {
  const number = (name) => Number(shape.getAttribute(name));
  if (shape.localName === "circle" || shape.localName === "ellipse") {
    const [rx, ry] = shape.localName === "circle" ? [number("r"), number("r")] : [number("rx"), number("ry")];
    return [number("cx") - rx, number("cy") - ry, number("cx") + rx, number("cy") + ry];
  }
  if (shape.localName === "rect") return [number("x"), number("y"), number("x") + number("width"), number("y") + number("height")];
  const points = shape.getAttribute("points").split(" ").map(Number);
  const [xs, ys] = [points.filter((_, at) => at % 2 === 0), points.filter((_, at) => at % 2 === 1)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** The size that holds all places. */
function extent(places) {
  const all = places.filter((place) => place.getAttribute("shape") !== "default").map((place) => bounds(shapeOf(place, 0, 0)));
  if (all.length === 0) return undefined;
  return [Math.max(...all.map(([, , right]) => right)) + 10, Math.max(...all.map(([, , , bottom]) => bottom)) + 10];
}

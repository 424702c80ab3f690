// Interactions whose response is a file: an upload or a drawing.
import { Interaction, announce, create } from "./base.js";
import { Picture } from "./picture.js";
import { words } from "./words.js";

/** Larger files are refused: the server takes an answer of a few megabytes. */
const FILE_MAX_BYTES = 4 * 1024 * 1024;

/** A file as the scoring API takes it: its name, its media type and its bytes in Base64. */
async function read(file) {
  const url = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
  return { name: file.name, mediaType: file.type || "application/octet-stream", data: url.slice(url.indexOf(",") + 1) };
}

/** A file of the student. */
export class UploadInteraction extends Interaction {
  #file = null;
  #input;
  #status;

  build() {
    this.nameGroup("group", "", words.file);
    this.#input = create("input", { type: "file", accept: this.getAttribute("type")?.trim().split(/\s+/).join(",") || null });
    for (const name of ["aria-labelledby", "aria-label"]) if (this.hasAttribute(name)) this.#input.setAttribute(name, this.getAttribute(name));
    this.#status = create("p", { class: "qti-hint" });
    this.append(this.#input, this.#status);
    this.#input.addEventListener("change", () => this.#take());
    this.#render();
  }

  async #take() {
    const [file] = this.#input.files;
    if (!file) return;
    if (file.size > FILE_MAX_BYTES) {
      this.#input.value = "";
      this.show(words.fileTooLarge(FILE_MAX_BYTES / 1024 / 1024));
      return;
    }
    this.#file = await read(file);
    this.changed();
    this.#render();
    announce(this.#status.textContent);
  }

  #render() {
    this.#status.textContent = this.#file ? words.chosenFile(this.#file.name) : words.noFile;
  }

  get value() {
    return this.#file;
  }

  set value(response) {
    this.#file = response ?? null;
    this.#render();
  }
}

/** The pen moves so far with an arrow key, in parts of the picture; with Shift, by one pixel. */
const STEP_PARTS = 40;
const STEPS = { ArrowUp: [0, -1], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowRight: [1, 0] };
const PEN_PX = 4;

/** A picture that is drawn on, with a pointer or with arrow keys. */
export class DrawingInteraction extends Interaction {
  /** Lists of points. */
  #strokes = [];
  #picture;
  #canvas;
  #context;
  #cross;
  #at;
  #isPenDown = false;
  /** A drawing of an earlier time, which is shown and can be drawn over. */
  #earlier = null;

  build() {
    this.nameGroup("group", words.drawingHint, words.drawing);
    this.#picture = new Picture(this);
    this.#picture.overlay.remove();
    const { width, height, stage } = this.#picture;
    this.#canvas = create("canvas", { width, height, tabindex: "0", role: "application", "aria-label": words.drawing, "aria-describedby": this.getAttribute("aria-describedby") });
    this.#context = this.#canvas.getContext("2d");
    this.#at = [width / 2, height / 2];
    this.#cross = create("div", { class: "qti-cross", "aria-hidden": "true", hidden: true });
    stage.append(this.#canvas, this.#cross);
    this.#picture.onResize(() => {
      const { width, height } = this.#picture;
      Object.assign(this.#canvas, { width, height });
      this.#at = [width / 2, height / 2];
      this.#render();
    });
    const button = (text, act) => {
      const part = create("button", { type: "button" }, text);
      part.addEventListener("click", act);
      return part;
    };
    const undo = button(words.undo, () => this.#change(this.#strokes.slice(0, -1), words.undone));
    const clear = button(words.clear, () => ((this.#earlier = null), this.#change([], words.cleared)));
    this.append(create("div", { class: "qti-tools" }, undo, clear));
    this.#canvas.addEventListener("pointerdown", (event) => this.#draw(event));
    this.#canvas.addEventListener("keydown", (event) => this.#key(event));
    this.#canvas.addEventListener("blur", () => (this.#cross.hidden = true));
  }

  #change(strokes, text) {
    this.#strokes = strokes;
    this.#render();
    this.changed();
    announce(text);
  }

  #draw(down) {
    if (this.isDisabled || down.button !== 0) return;
    const stroke = [this.#picture.pointAt({ x: down.clientX, y: down.clientY })];
    this.#canvas.setPointerCapture(down.pointerId);
    const move = ({ clientX, clientY }) => {
      stroke.push(this.#picture.pointAt({ x: clientX, y: clientY }));
      this.#render([...this.#strokes, stroke]);
    };
    const listening = new AbortController();
    const end = () => {
      listening.abort();
      this.#change([...this.#strokes, stroke], words.drawn);
    };
    const { signal } = listening;
    this.#canvas.addEventListener("pointermove", move, { signal });
    // A browser that takes the pointer for scrolling cancels it.
    for (const name of ["pointerup", "pointercancel"]) this.#canvas.addEventListener(name, end, { signal });
  }

  #key(event) {
    if (this.isDisabled) return;
    if (event.key in STEPS) {
      const { width, height } = this.#picture;
      const step = event.shiftKey ? 1 : Math.max(Math.round(Math.max(width, height) / STEP_PARTS), 1);
      const [x, y] = STEPS[event.key];
      this.#at = this.#picture.inside(this.#at[0] + x * step, this.#at[1] + y * step);
      if (this.#isPenDown) {
        this.#strokes.at(-1).push(this.#at);
        this.#render();
        this.changed();
      }
      announce(words.crossAt(...this.#at));
    } else if (event.key === " " || event.key === "Enter") {
      this.#isPenDown = !this.#isPenDown;
      if (this.#isPenDown) this.#strokes.push([this.#at]);
      announce(this.#isPenDown ? words.penDown : words.penUp);
    } else return;
    event.preventDefault();
    this.#cross.hidden = false;
    this.#cross.classList.toggle("qti-pen-down", this.#isPenDown);
    this.#picture.place(this.#cross, this.#at);
  }

  #render(strokes = this.#strokes, context = this.#context) {
    const { width, height } = this.#picture;
    context.clearRect(0, 0, width, height);
    if (this.#earlier) context.drawImage(this.#earlier, 0, 0, width, height);
    Object.assign(context, { lineWidth: PEN_PX, lineCap: "round", lineJoin: "round", strokeStyle: "#c2185b" });
    for (const [first, ...rest] of strokes) {
      context.beginPath();
      context.moveTo(...first);
      // A stroke of one point is a dot.
      for (const point of rest.length > 0 ? rest : [first]) context.lineTo(...point);
      context.stroke();
    }
  }

  get value() {
    if (this.#strokes.length === 0 && !this.#earlier) return null;
    const url = this.#canvas.toDataURL("image/png");
    return { name: "drawing.png", mediaType: "image/png", data: url.slice(url.indexOf(",") + 1) };
  }

  set value(response) {
    this.#strokes = [];
    this.#earlier = null;
    this.#render();
    if (!response?.data) return;
    const picture = new Image();
    picture.addEventListener("load", () => {
      this.#earlier = picture;
      this.#render();
    });
    picture.src = `data:${response.mediaType};base64,${response.data}`;
  }
}

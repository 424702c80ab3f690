import { Interaction, announce, create } from "./base.js";
import { words } from "./words.js";

/** Sound or video, counted as it plays to its end. */
export class MediaInteraction extends Interaction {
  #plays = 0;
  #player;
  #status;

  build() {
    this.nameGroup("group", "", words.recording);
    this.#player = this.querySelector("audio, video");
    this.#status = create("p", { class: "qti-hint" });
    this.append(this.#status);
    this.#render();
    if (!this.#player) return;
    for (const name of ["aria-labelledby", "aria-label"]) if (this.hasAttribute(name)) this.#player.setAttribute(name, this.getAttribute(name));
    const max = this.number("max-plays");
    this.#player.addEventListener("play", () => {
      if (this.isDisabled || max === 0 || this.#plays < max) return;
      this.#player.pause();
      this.show(words.playedOften(max));
    });
    this.#player.addEventListener("ended", () => {
      if (this.isDisabled) return;
      this.#plays += 1;
      this.changed();
      this.#render();
      announce(this.#status.textContent);
      if (this.getAttribute("loop") === "true" && (max === 0 || this.#plays < max)) this.#player.play();
    });
    // Browsers refuse sound that nobody asked for; the student presses play then.
    // An answered question makes no sound: its card is disabled in the same moment.
    if (this.getAttribute("autostart") === "true") queueMicrotask(() => this.isDisabled || this.#player.play?.().catch(() => {}));
  }

  #render() {
    this.#status.textContent = words.plays(this.#plays, this.number("max-plays"));
  }

  get value() {
    return this.#plays || null;
  }

  set value(response) {
    this.#plays = Number(Interaction.values(response)[0] ?? 0);
    this.#render();
  }

  problem() {
    const min = this.number("min-plays");
    return this.#plays < min ? words.playAtLeast(min) : "";
  }
}

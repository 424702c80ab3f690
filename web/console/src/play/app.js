// The app in its frame. Both sides send messages `{type, payload}`. Only messages to and from the app's origin count.

/** What the app may tell the page. */
const FROM_APP = new Set([
  "LYCEUM_HELLO",
  "LYCEUM_READY",
  "LYCEUM_EXIT",
  "LYCEUM_TOKEN_REQUEST",
  "LYCEUM_KEY_EVENT",
  "LYCEUM_DISPLAY_ALERT",
]);

export class App {
  /** Hands on what the app tells, by its type. */
  constructor(frame, origin, heard) {
    this.frame = frame;
    this.origin = origin;
    addEventListener("message", ({ source, origin: from, data }) => {
      if (source !== frame.contentWindow || from !== origin || !FROM_APP.has(data?.type)) return;
      heard[data.type]?.(data.payload);
    });
    frame.addEventListener("load", () => this.isOpen && heard.load?.());
  }

  open() {
    this.isOpen = true;
    this.frame.hidden = false;
    this.frame.src = `${this.origin}/`;
  }

  /** The browser drops the message where the frame shows another origin. */
  tell(type, payload) {
    if (this.isOpen) this.frame.contentWindow.postMessage({ type, payload }, this.origin);
  }

  close() {
    this.isOpen = false;
    this.frame.hidden = true;
    this.frame.src = "about:blank";
  }
}

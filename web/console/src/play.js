// Runs the page on which people play an app. It opens the app in its frame, sends it a token, and relays pause, exit
// and the state of the connection.
import { App } from "./play/app.js";
import { Refused, SignedOut, Tokens } from "./play/tokens.js";
import { t } from "./language.js";

/** How long an app gets to save before it is removed, in milliseconds. */
const LEAVE_MS = 1_500;

const { mode, slug, token: path, base, app: origin } = document.body.dataset;
const part = (name) => document.querySelector(`[data-${name}]`);
const [frame, over, banner, pauses, exits, again, link] = ["frame", "over", "banner", "pause", "exit", "again", "link"].map(part);
const isDemo = mode === "demo";

/** Says something in front of the app; the button, where there is one, does the work. */
function show(title, text, action) {
  part("title").textContent = title;
  part("text").textContent = text;
  again.hidden = !action?.name;
  again.textContent = action?.name ?? "";
  again.onclick = action?.work ?? null;
  link.hidden = !action?.signsIn;
  over.hidden = false;
  // Not `inert`: Chromium then stops delivering input to a frame that runs in another process.
  frame.tabIndex = -1;
  if (action) (action.name ? again : link).focus();
}

function say(text, type = "warning") {
  banner.textContent = text;
  banner.className = `banner ${type}`;
  banner.hidden = text === "";
}

let state = "starting";
let ending;

const tokens = new Tokens({
  slug,
  path,
  isDemo,
  storage: sessionStorage,
  renewed: ({ token, exp }) => {
    app.tell("LYCEUM_TOKEN_REFRESH", { token, exp });
    connected("online");
  },
  lost: () => {
    app.tell("LYCEUM_PAUSE");
    show(t("You are signed out"), t("Sign in to continue. The app's data on this device is not lost."), { signsIn: true });
  },
  failed: (error) => connected("offline", String(error?.message ?? error)),
});

/** Greets the app, again where it asks again: it may have loaded itself anew. */
function greet() {
  if (!tokens.current) return;
  const { token, exp, gameId } = tokens.current;
  app.tell("LYCEUM_INIT", { baseUrl: `${base}/api`, token, exp, gameId, mode });
}

const app = new App(frame, origin, {
  LYCEUM_HELLO: greet,
  load: () => {
    greet();
    if (state === "starting") play();
  },
  LYCEUM_READY: () => state === "starting" && play(),
  LYCEUM_EXIT: () => ended(),
  LYCEUM_TOKEN_REQUEST: () => void tokens.renew(),
  LYCEUM_KEY_EVENT: (payload) => payload?.type === "keydown" && payload.code === "Escape" && state === "playing" && pause(),
  LYCEUM_DISPLAY_ALERT: (payload) => say(String(payload?.message ?? ""), ["info", "error"].includes(payload?.type) ? payload.type : "warning"),
});

function play() {
  state = "playing";
  over.hidden = true;
  frame.tabIndex = 0;
  pauses.hidden = exits.hidden = false;
  pauses.textContent = t("Pause");
  frame.focus();
}

function pause() {
  state = "paused";
  app.tell("LYCEUM_PAUSE");
  pauses.textContent = t("Continue");
  show(t("Paused"), t("The app is paused, and its clock is stopped."), { name: t("Continue"), work: resume });
}

function resume() {
  app.tell("LYCEUM_RESUME");
  play();
}

function leave() {
  if (state === "ending" || state === "ended") return;
  state = "ending";
  app.tell("LYCEUM_FORCE_EXIT");
  ending = setTimeout(ended, LEAVE_MS);
}

function ended() {
  if (state === "ended") return;
  clearTimeout(ending);
  state = "ended";
  tokens.stop();
  app.close();
  pauses.hidden = exits.hidden = true;
  say("");
  show(t("You have left the app"), t("Your progress is saved."), { name: t("Play again"), work: begin });
}

/** Whether the server can be reached, told on the page and to the app. */
let connection = "online";
function connected(now, reason) {
  if (now === connection) return;
  connection = now;
  app.tell("LYCEUM_CONNECTION_STATE", reason ? { state: now, reason } : { state: now });
  say(now === "online" ? "" : t("The server cannot be reached. The app keeps your work until the connection is back."));
}
addEventListener("offline", () => connected("offline", "the device is offline"));
addEventListener("online", () => connected("online"));

pauses.addEventListener("click", () => (state === "paused" ? resume() : pause()));
exits.addEventListener("click", leave);

async function begin() {
  state = "starting";
  show(t("Starting …"), t("Opening the app."));
  try {
    await tokens.first();
    app.open();
  } catch (error) {
    const retry = { name: t("Try again"), work: begin };
    if (error instanceof SignedOut) show(t("You are signed out"), t("Sign in to play."), { signsIn: true });
    else if (error instanceof Refused) show(t("The server is busy"), t("It does not accept new players at the moment. Try again in a few minutes."), retry);
    else show(t("No connection"), t("The server cannot be reached. Check your network connection and try again."), retry);
  }
}
void begin();

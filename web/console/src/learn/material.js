// Material of other servers and apps. Nothing of another server is loaded before the student asks for it.
import { button, part } from "./part.js";
import { t } from "../language.js";

const NAMES = { video: t("Watch the video"), audio: t("Listen"), picture: t("Look at the picture"), text: t("Read the text"), page: t("Open the page") };

/** Shows a lesson that is no set of questions. */
export function showMaterial(lesson, { show, home, markDone }) {
  const { mode, kind, address, standing } = lesson;
  if (mode === "app") {
    const open = part("a", { class: "button main", href: address }, t("Open the app"));
    return show(part("h2", {}, t("This lesson is an app")), doneNotice(lesson), part("p", { class: "actions" }, open, ...done(lesson, markDone), home()));
  }
  if (!address) return show(part("h2", {}, t("Your teacher opens this test for you")), part("p", { class: "actions" }, home()));
  const host = new URL(address).host;
  if (mode === "outside-test") {
    const open = part("a", { class: "button main", href: address, target: "_blank", rel: "noopener noreferrer", referrerpolicy: "no-referrer" }, t("Open the test"));
    return show(part("h2", {}, t("This test is on another site")), part("p", {}, t("It opens {host} in a new tab.", { host })), part("p", { class: "actions" }, open, home()));
  }
  const open = button(NAMES[kind] ?? NAMES.page, () => {
    const frame = part("iframe", {
      class: "material",
      title: lesson.title,
      src: address,
      // A page of this server must not reach the student's session from the frame.
      sandbox: `allow-scripts allow-forms allow-presentation${host === location.host ? "" : " allow-same-origin"}`,
      allow: "fullscreen; picture-in-picture",
      referrerpolicy: "no-referrer",
    });
    show(part("h2", {}, lesson.title), frame, part("p", { class: "actions" }, ...done(lesson, markDone), home()));
  }, { class: "main" });
  const isDone = standing === "done";
  show(
    part("h2", {}, isDone ? t("Done") : t("Ready?")),
    doneNotice(lesson),
    part("p", {}, t("This comes from {host}. It is loaded when you press the button.", { host })),
    part("p", { class: "actions" }, open, home()),
  );
}

function doneNotice({ standing }) {
  return standing === "done" && part("p", { class: "notice good" }, t("You have done this."));
}

function done(lesson, markDone) {
  if (lesson.standing === "done" || !lesson.canMarkDone) return [];
  return [button(t("I am done"), markDone)];
}

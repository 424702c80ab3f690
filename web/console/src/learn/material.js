// Material of other servers and apps. Nothing of another server is loaded before the student asks for it.
import { button, part } from "./part.js";

const NAMES = { video: "Watch the video", audio: "Listen", picture: "Look at the picture", text: "Read the text", page: "Open the page" };

/** Shows a lesson that is no set of questions. */
export function showMaterial(lesson, { show, home, markDone }) {
  const { mode, kind, address, standing } = lesson;
  if (mode === "app") {
    const open = part("a", { class: "button main", href: address }, "Open the app");
    return show(part("h2", {}, "This lesson is an app"), doneNotice(lesson), part("p", { class: "actions" }, open, ...done(lesson, markDone), home()));
  }
  if (!address) return show(part("h2", {}, "Your teacher opens this test for you"), part("p", { class: "actions" }, home()));
  const host = new URL(address).host;
  if (mode === "outside-test") {
    const open = part("a", { class: "button main", href: address, target: "_blank", rel: "noopener noreferrer", referrerpolicy: "no-referrer" }, "Open the test");
    return show(part("h2", {}, "This test is on another site"), part("p", {}, `It opens ${host} in a new tab.`), part("p", { class: "actions" }, open, home()));
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
    part("h2", {}, isDone ? "Done" : "Ready?"),
    doneNotice(lesson),
    part("p", {}, `This comes from ${host}. It is loaded when you press the button.`),
    part("p", { class: "actions" }, open, home()),
  );
}

function doneNotice({ standing }) {
  return standing === "done" && part("p", { class: "notice good" }, "You have done this.");
}

function done(lesson, markDone) {
  if (lesson.standing === "done" || !lesson.canMarkDone) return [];
  return [button("I am done", markDone)];
}

// Small helpers for the parts of a lesson's page.

/** Creates an element. Attributes that are false, null or undefined are left out; `onclick` is a listener. */
export function part(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(attribute.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(attribute, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== ""));
  return element;
}

/** A button with one clear action. A second press does nothing while the first one works. */
export function button(text, work, attributes = {}) {
  const element = part("button", { type: "button", ...attributes }, text);
  let isWorking = false;
  element.addEventListener("click", async () => {
    if (isWorking) return;
    isWorking = true;
    element.setAttribute("aria-disabled", "true");
    try {
      await work();
    } finally {
      isWorking = false;
      element.removeAttribute("aria-disabled");
    }
  });
  return element;
}

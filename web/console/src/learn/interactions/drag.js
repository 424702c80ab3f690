// Dragging with a mouse, a pen or a finger. Each drag kind works by keys and taps too; this is one more way.

/** A pointer that moves less is a tap. */
const TAP_MAX_PX = 8;

/**
 * Lets a part be dragged.
 *
 * @param {HTMLElement} part
 * @param {() => boolean} start called when the drag begins; false refuses it
 * @param {(target: Element | null, at: { x: number, y: number }) => void} end called with the element under the pointer,
 *   or `null` if the drag was cancelled
 * @param {HTMLElement} [handle] where the drag begins; by default anywhere on the part
 */
export function makeDraggable(part, start, end, handle = part) {
  handle.addEventListener("pointerdown", (down) => {
    if (down.button !== 0 || !down.isPrimary) return;
    let ghost;
    const move = ({ clientX, clientY }) => {
      const [x, y] = [clientX - down.clientX, clientY - down.clientY];
      if (!ghost) {
        if (Math.hypot(x, y) < TAP_MAX_PX) return;
        if (!start()) return finish();
        ghost = ghostOf(part);
      }
      ghost.style.transform = `translate(${x}px, ${y}px)`;
    };
    const up = (event) => {
      const isDragged = ghost !== undefined;
      finish();
      if (!isDragged) return;
      // The click that follows would act as a tap.
      const swallow = (click) => click.stopPropagation();
      window.addEventListener("click", swallow, { capture: true, once: true });
      setTimeout(() => window.removeEventListener("click", swallow, { capture: true }));
      const at = { x: event.clientX, y: event.clientY };
      end(document.elementFromPoint(at.x, at.y), at);
    };
    const cancel = () => {
      const isDragged = ghost !== undefined;
      finish();
      if (isDragged) end(null, { x: 0, y: 0 });
    };
    const finish = () => {
      ghost?.remove();
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
      window.removeEventListener("pointercancel", cancel);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
    window.addEventListener("pointercancel", cancel);
  });
  // A browser's own drag of pictures and links would end ours.
  handle.addEventListener("dragstart", (event) => event.preventDefault());
}

/** A copy that follows the pointer. */
function ghostOf(part) {
  const { left, top, width, height } = part.getBoundingClientRect();
  const ghost = part.cloneNode(true);
  ghost.removeAttribute("id");
  ghost.classList.add("qti-ghost");
  ghost.setAttribute("aria-hidden", "true");
  Object.assign(ghost.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  // Inside the item, where its styles apply.
  (part.closest(".qti-item") ?? document.body).append(ghost);
  return ghost;
}

// Moving a department with the pointer: by its grip, onto the department that it shall be below, or onto the line for the
// top level, which appears below the tree so that nothing moves under the pointer. Alike for mouse, pen and finger.

const FAR_ENOUGH = 6;

/** `dropped(id, parent)` is told where a department was let go; `top` is the element that stands for no parent.
 * @param {HTMLElement} tree @param {HTMLElement} top @param {(id: string, parent: string) => unknown} dropped */
export function draggable(tree, top, dropped) {
  tree.addEventListener("pointerdown", (event) => {
    const grip = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(".grip"));
    if (!grip || event.button !== 0) return;
    event.preventDefault();
    drag(grip, event);
  });

  /** @param {HTMLElement} grip @param {PointerEvent} start */
  function drag(grip, start) {
    const item = /** @type {HTMLElement} */ (grip.closest("li"));
    /** @type {HTMLElement | null} */
    let target = null;
    let moving = false;
    grip.setPointerCapture(start.pointerId);

    /** @param {PointerEvent} event */
    const move = ({ clientX, clientY }) => {
      if (!moving && Math.hypot(clientX - start.clientX, clientY - start.clientY) < FAR_ENOUGH) return;
      moving = true;
      item.classList.add("moving");
      top.hidden = false;
      const under = document.elementFromPoint(clientX, clientY);
      mark(under === top ? top : under?.closest(".tree li"));
    };
    /** @param {HTMLElement | null | undefined} wanted */
    const mark = (wanted) => {
      target?.classList.remove("target");
      target = wanted && !item.contains(wanted) ? wanted : null;
      target?.classList.add("target");
    };
    /** @param {boolean} drop */
    const end = (drop) => {
      item.classList.remove("moving");
      top.hidden = true;
      const onto = drop && moving ? target : null;
      mark(null);
      ending.abort();
      if (onto) dropped(item.dataset.id ?? "", onto.dataset.id ?? "0");
    };
    const ending = new AbortController();
    const { signal } = ending;
    grip.addEventListener("pointermove", move, { signal });
    grip.addEventListener("pointerup", () => end(true), { signal });
    grip.addEventListener("pointercancel", () => end(false), { signal });
    document.addEventListener("keydown", ({ key }) => key === "Escape" && end(false), { signal });
  }
}

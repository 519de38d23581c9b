// Changes that are not saved yet: whoever has them on the page marks the element with `data-unsaved`.

import { confirmed } from "./dialog.js";

/** Whether the reader may go elsewhere: there is nothing unsaved on the page, or the reader gives it up. */
export async function mayLeave() {
  if (!document.querySelector("[data-unsaved]")) return true;
  return confirmed({ title: "unsaved.leave", text: "unsaved.leave.text", act: "unsaved.leave.act" });
}

"""What a reader cannot see or reach: texts and controls that are covered, cut off or outside, in words.

Each is scrolled to as a person would, by what has a scroll bar; then the browser is asked what it paints there. A
dialog is judged alone, since it makes the page behind it inert.
"""

from __future__ import annotations

from playwright.sync_api import Locator, Page

# Nothing is transparent to the question, and a label stands for the control in it.
UNREADABLE = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { pointer-events: auto !important; scroll-behavior: auto !important }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  const roots = [dialog ?? document.body, ...document.querySelectorAll(".toast")];
  const pen = document.createElement("canvas").getContext("2d");
  const problems = [];

  const above = (element) => (element ? [element, ...above(element.parentElement)] : []);
  const seen = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true }) &&
    !above(element).some((each) => getComputedStyle(each).clipPath !== "none") && // for screen readers alone
    element.getBoundingClientRect().right + scrollX > 0; // the link that appears when it has the focus

  function reach(element, place) {
    for (const each of above(element)) {
      const page = each === document.scrollingElement;
      const { overflowX, overflowY } = getComputedStyle(each);
      const box = page ? { top: 0, left: 0, bottom: innerHeight, right: innerWidth } : each.getBoundingClientRect();
      const { top, left, bottom, right } = place();
      if (page || /auto|scroll/.test(overflowY)) each.scrollTop += (top + bottom - box.top - box.bottom) / 2;
      if (page || /auto|scroll/.test(overflowX)) each.scrollLeft += (left + right - box.left - box.right) / 2;
    }
  }

  /** What is painted over or instead of this place, or null. */
  function other(owner, { left, top, width, height }, points) {
    for (const [across, down] of points) {
      const x = left + Math.min(Math.max(width * across, 2), width - 2);
      const y = top + Math.min(Math.max(height * down, 2), height - 2);
      const hit = document.elementFromPoint(x, y);
      const labels = [...(owner.labels ?? [])];
      if (!hit) return "outside of the screen";
      if (owner.contains(hit) || labels.some((label) => label.contains(hit))) continue;
      return `covered or cut off by <${hit.localName} class="${hit.getAttribute("class") ?? ""}">`;
    }
    return null;
  }

  const LINE = [[0.5, 0.5], [0, 0.5], [1, 0.5], [0.5, 0.25], [0.5, 0.75]];
  const CONTROL = [[0.5, 0.5], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75], [0.5, 0.05], [0.5, 0.95]];

  function judgeText(node) {
    const owner = node.parentElement;
    if (!node.data.trim() || owner.closest("option, script, style, textarea") || !seen(owner)) return;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (let at = 0; at < range.getClientRects().length; at += 1) {
      const place = () => range.getClientRects()[at];
      if (place().width < 4) continue;
      reach(owner, place);
      const problem = other(owner, place(), LINE);
      if (problem) return problems.push(`text "${node.data.trim().slice(0, 60)}": ${problem}`);
    }
  }

  function judgeControl(control) {
    if (!seen(control)) return;
    const place = () => control.getBoundingClientRect();
    const name = control.getAttribute("aria-label") || control.textContent.trim() || control.id || control.name || "";
    const kind = `${control.localName} "${name.slice(0, 60)}"`;
    reach(control, place);
    const inline = control.localName === "a" && getComputedStyle(control).display === "inline";
    const problem = inline ? null : other(control, place(), CONTROL); // a link in a sentence is judged as text
    if (problem) problems.push(`${kind}: ${problem}`);
    const chosen = control.localName === "select" && control.selectedOptions[0]?.textContent;
    const inside = control.type === "date" ? "00/00/0000 📅" : chosen || (!control.value && control.placeholder);
    if (!inside || control.localName === "textarea") return;
    const style = getComputedStyle(control);
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const room = control.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (pen.measureText(inside).width > room + 1) problems.push(`${kind}: no room for "${inside}"`);
  }

  for (const root of roots) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) judgeText(texts.currentNode);
    root.querySelectorAll("a[href], button, input, select, textarea, summary, label:has(input)").forEach(judgeControl);
  }
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) problems.push(`the page is ${scrollWidth} wide, the screen ${innerWidth}`);
  if (dialog) {
    dialog.scrollTop = dialog.scrollHeight;
    const last = [...dialog.querySelectorAll(":not(:has(*))")].filter((each) => !each.closest(".fields") && seen(each));
    const ends = Math.max(...last.map((each) => each.getBoundingClientRect().bottom));
    const blank = dialog.getBoundingClientRect().bottom - ends;
    if (blank > 40) problems.push(`${Math.round(blank)} pixels stay blank at the end of the dialog`);
  }
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
  return problems;
}"""


def unreadable(page: Page) -> list[str]:
    problems: list[str] = page.evaluate(UNREADABLE)
    return problems


def in_sight(locator: Locator) -> bool:
    """Whether all lines of a message are painted where they are, before anybody scrolls."""
    return bool(
        locator.evaluate(
            """message => {
              const range = document.createRange();
              range.selectNodeContents(message);
              return [...range.getClientRects()].every(({ left, top, width, height }) =>
                message.contains(document.elementFromPoint(left + width / 2, top + height / 2)));
            }"""
        )
    )

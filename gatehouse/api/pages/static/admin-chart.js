// A bar chart in SVG by day: logins with the people behind them as a narrower bar inside, and failed logins beside them.

import { locale, word } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const NARROW = matchMedia("(max-width: 44rem)");
const HEIGHT = 220;
const LEFT = 36;
const BOTTOM = 24;
const TOP = 10;

/** days: [{ date, logins, people, failed }]. A screen reader gets the same as a sentence for each day.
 * @param {Day[]} days */
export function chart(days) {
  const width = NARROW.matches ? 340 : 720; // so that the writing keeps its size on a phone
  const svg = element("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "chart", role: "img", "aria-label": word("overview.chart.label", { days: days.length }) });
  const top = ceiling(Math.max(1, ...days.flatMap(({ logins, failed }) => [logins, failed])));
  /** @param {number} value */
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  for (const value of [0, top / 2, top]) {
    svg.append(element("line", { class: "grid", x1: LEFT, x2: width, y1: y(value), y2: y(value) }));
    svg.append(text(LEFT - 8, y(value) + 4, Number.isInteger(value) ? value.toLocaleString() : "", "end"));
  }
  const step = (width - LEFT) / days.length;
  const every = Math.ceil(days.length / (NARROW.matches ? 4 : 8));
  for (const [at, day] of days.entries()) {
    const x = LEFT + at * step;
    const group = element("g");
    const title = element("title");
    title.textContent = word("overview.chart.day", { day: shortDay(day.date), logins: day.logins, people: day.people, failed: day.failed });
    const thin = Math.min(step * 0.2, 8);
    const bar = Math.min(step * 0.7, 28) - thin;
    const from = x + (step - bar - thin) / 2;
    group.append(
      title,
      element("rect", { class: "hit", x, y: TOP, width: step, height: HEIGHT - TOP - BOTTOM }),
      element("rect", { class: "bar-b", x: from, y: y(day.logins), width: bar, height: y(0) - y(day.logins), rx: 3 }),
      element("rect", { class: "bar-a", x: from + bar / 4, y: y(day.people), width: bar / 2, height: y(0) - y(day.people), rx: 3 }),
      element("rect", { class: "bar-c", x: from + bar + 1, y: y(day.failed), width: thin, height: y(0) - y(day.failed), rx: 2 }),
    );
    svg.append(group);
    if ((days.length - 1 - at) % every === 0) svg.append(text(x + step / 2, HEIGHT - 6, shortDay(day.date), at === days.length - 1 ? "end" : "middle", at === days.length - 1 ? step / 2 : 0));
  }
  return svg;
}

/** @param {string} date */
function shortDay(date) {
  return new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short", timeZone: "UTC" }).format(new Date(`${date}T00:00:00Z`));
}

/** The next round number above, so that the lines of the grid have readable values.
 * @param {number} value */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 2, 4, 6, 8, 10].map((step) => step * power);
  return Math.max(2, steps.find((step) => step >= value) ?? 0);
}

/** @param {number} x @param {number} y @param {string} content @param {string} anchor */
function text(x, y, content, anchor, shift = 0) {
  const made = element("text", { x: x + shift, y, "text-anchor": anchor });
  made.textContent = content;
  return made;
}

/** @param {string} name @param {Record<string, any>} [attributes] */
function element(name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

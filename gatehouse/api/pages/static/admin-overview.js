// Overview: how many people, logins and failures over time, who must wait, how the stores and keys are, what has happened.

import { detail } from "./admin-audit.js";
import { chart } from "./admin-chart.js";
import { lockouts } from "./admin-lockouts.js";
import { findings, KINDS } from "./admin-settings.js";
import { emptyState } from "./admin-table.js";
import { make } from "./dom.js";
import { ago, utc } from "./times.js";
import { ask } from "./tokens.js";
import { locale, say, word } from "./words.js";

const DAYS = 30;
// What the overview tells of the checks, besides everything that is not well.
const VITAL = new Set(["accounts", "state", "signing keys", "clock"]);

/** @param {Context} context */
export async function overview(context) {
  const { may } = context;
  const end = new Date();
  const start = new Date(end.getTime() - (DAYS - 1) * 86_400_000);
  const [totals, trend, users, live, events, health, waiting] = await Promise.all([
    ask("GET", "logs/analytics/overview"),
    ask("GET", `logs/analytics/trend?startDate=${day(start)}&endDate=${day(end)}`),
    may("sys:user:list") ? ask("GET", "users?pageNum=1&pageSize=1") : null,
    may("sys:user:list") || may("sys:session:list") ? ask("GET", "sessions?limit=100") : null,
    may("sys:log:list") ? ask("GET", "logs?pageNum=1&pageSize=9") : null,
    may("sys:config:list") ? ask("GET", "settings/checks") : null,
    may("sys:user:list") ? lockouts(context) : null,
  ]);
  const days = trend.dates.map((date, at) => ({ date, logins: trend.pvList[at], people: trend.uvList[at], failed: trend.failedList[at] }));
  /** @param {string} words @param {Child[]} content */
  const asPanel = (words, ...content) => make("section", { class: "panel" }, make("h2", { t: words }), ...content);
  const drawn = days.some(({ logins, failed }) => logins || failed) ? chart(days) : emptyState({ title: "overview.quiet", text: "overview.quiet.text" });
  return [
    make("div", { class: "title" }, make("h1", { t: "part.overview" }), health && status(health.checks)),
    make(
      "div",
      { class: "figures" },
      users && figure("overview.users", users.total, null, "#users"),
      live && figure("overview.live", live.sessions.length, null, "#sessions", live.next !== null),
      figure("overview.people", totals.todayUvCount, growth(totals.uvGrowthRate)),
      figure("overview.logins", totals.todayPvCount, growth(totals.pvGrowthRate)),
      figure("overview.failed", days.at(-1)?.failed ?? 0, null, may("sys:log:list") ? "#audit" : null),
    ),
    make(
      "div",
      { class: events || waiting || health ? "split" : "" },
      make("div", { class: "stack" }, asPanel("overview.chart", legend(), drawn), health && asPanel("overview.health", findings(health.checks.filter(({ level, check }) => level !== "ok" || VITAL.has(check))))),
      make("div", { class: "stack" }, waiting, events && asPanel("overview.recent", make("ul", { class: "happened" }, events.list.map(happened)))),
    ),
  ];
}

/** @param {Date} date */
function day(date) {
  return date.toISOString().slice(0, 10);
}

/** One word for all checks: the worst of them.
 * @param {CheckData[]} checks */
function status(checks) {
  const worst = ["fail", "warn"].find((level) => checks.some((check) => check.level === level)) ?? "ok";
  return make("a", { class: KINDS[worst], href: "#settings", t: `overview.${worst}` });
}

/** @param {string} words @param {number} value @param {Element | null} note @param {string | null} [href] */
function figure(words, value, note, href, more = false) {
  const made = make(href ? "a" : "div", { class: "figure", href }, make("span", { class: "name", t: words }), make("span", { class: "value" }, `${value.toLocaleString(locale())}${more ? "+" : ""}`));
  if (note) made.append(note);
  return made;
}

/** @param {number} rate */
function growth(rate) {
  if (!rate) return null;
  const text = make("span", { class: rate > 0 ? "note up" : "note" });
  const percent = new Intl.NumberFormat(locale(), { style: "percent", signDisplay: "always", maximumFractionDigits: 0 }).format(rate);
  say(text, "overview.growth", { percent });
  return text;
}

function legend() {
  return make("div", { class: "legend" }, make("span", { t: "overview.legend.people" }), make("span", { class: "b", t: "overview.legend.logins" }), make("span", { class: "c", t: "overview.legend.failed" }));
}

/** @param {LogRow} event */
function happened(event) {
  const { title, operatorName, createTime, ip, status } = event;
  const when = utc(createTime);
  const sub = [...new Set([operatorName, detail(event), ip])].filter(Boolean).join(" · ");
  return make(
    "li",
    {},
    make("span", { class: status ? "" : "state bad" }, title),
    make("time", { datetime: when.toISOString() }, ago(when) ?? word("audit.now")),
    make("span", { class: "sub" }, sub),
  );
}

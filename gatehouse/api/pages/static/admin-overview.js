// Overview: how many people, logins over time, what has just happened.

import { plain } from "./admin-audit.js";
import { chart } from "./admin-chart.js";
import { emptyState } from "./admin-table.js";
import { make } from "./dom.js";
import { ROOT } from "./place.js";
import { ago } from "./times.js";
import { ask } from "./tokens.js";
import { locale, say, word } from "./words.js";

const DAYS = 30;

export async function overview({ may }) {
  const end = new Date();
  const start = new Date(end - (DAYS - 1) * 86_400_000);
  const [totals, trend, users, failed, events, ready] = await Promise.all([
    ask("GET", "logs/analytics/overview"),
    ask("GET", `logs/analytics/trend?startDate=${day(start)}&endDate=${day(end)}`),
    may("sys:user:list") ? ask("GET", "users?pageNum=1&pageSize=1") : null,
    may("sys:log:list") ? ask("GET", `logs?pageNum=1&pageSize=1&keywords=login.failed&createTime=${day(end)}&createTime=${day(end)}`) : null,
    may("sys:log:list") ? ask("GET", "logs?pageNum=1&pageSize=9") : null,
    fetch(new URL("health/ready", ROOT)).then((answer) => answer.ok, () => false),
  ]);
  const days = trend.dates.map((date, at) => ({ date, logins: trend.pvList[at], people: trend.uvList[at] }));
  return [
    make("div", { class: "title" }, make("h1", { t: "part.overview" }), status(ready)),
    make(
      "div",
      { class: "figures" },
      users && figure("overview.users", users.total, null, "#users"),
      figure("overview.people", totals.todayUvCount, growth(totals.uvGrowthRate), may("sys:session:list") || may("sys:user:list") ? "#sessions" : null),
      figure("overview.logins", totals.todayPvCount, growth(totals.pvGrowthRate)),
      failed && figure("overview.failed", failed.total, null, "#audit"),
    ),
    make(
      "div",
      { class: events ? "split" : "" },
      make("section", { class: "panel" }, make("h2", { t: "overview.chart" }), legend(), days.some(({ logins }) => logins) ? chart(days) : emptyState({ title: "overview.quiet", text: "overview.quiet.text" })),
      events && make("section", { class: "panel" }, make("h2", { t: "overview.recent" }), make("ul", { class: "happened" }, events.list.map(happened))),
    ),
  ];
}

function day(date) {
  return date.toISOString().slice(0, 10);
}

function status(ready) {
  return make("span", { class: ready ? "state" : "state bad", t: ready ? "overview.ready" : "overview.unready" });
}

function figure(words, value, note, href) {
  const made = make(href ? "a" : "div", { class: "figure", href }, make("span", { class: "name", t: words }), make("span", { class: "value" }, value.toLocaleString(locale())));
  if (note) made.append(note);
  return made;
}

function growth(rate) {
  if (!rate) return null;
  const text = make("span", { class: rate > 0 ? "note up" : "note" });
  const percent = new Intl.NumberFormat(locale(), { style: "percent", signDisplay: "always", maximumFractionDigits: 0 }).format(rate);
  say(text, "overview.growth", { percent });
  return text;
}

function legend() {
  return make("div", { class: "legend" }, make("span", { t: "overview.legend.people" }), make("span", { class: "b", t: "overview.legend.logins" }));
}

function happened({ title, operatorName, content, createTime, ip, status }) {
  const when = new Date(`${createTime.replace(" ", "T")}Z`);
  const sub = [operatorName, plain(content), ip].filter(Boolean).join(" · ");
  return make(
    "li",
    {},
    make("span", { class: status ? "" : "state bad" }, title),
    make("time", { datetime: when.toISOString() }, ago(when) ?? word("audit.now")),
    make("span", { class: "sub" }, sub),
  );
}

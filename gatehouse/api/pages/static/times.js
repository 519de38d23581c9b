// Times as a reader says them, and devices by name.

import { locale, word } from "./words.js";

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];

/** The year only where it is not this one.
 * @param {string | Date} time */
export function date(time) {
  const moment = new Date(time);
  const year = moment.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  /** @type {Intl.DateTimeFormatOptions} */
  const form = { year, month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
  return new Intl.DateTimeFormat(locale(), form).format(moment);
}

/** With seconds and the time zone, for somebody who compares it with another log.
 * @param {Date} time */
export function moment(time) {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "long" }).format(time);
}

/** The service's `2026-11-17 09:00:00`, which is UTC.
 * @param {string} time */
export function utc(time) {
  return new Date(`${time.replace(" ", "T")}Z`);
}

/** "3 hours ago"; null within the last minute, for which each place has its own words.
 * @param {string | Date} time */
export function ago(time) {
  const seconds = Math.max(0, (Date.now() - new Date(time).getTime()) / 1000);
  const unit = UNITS.find(([, size]) => seconds >= size);
  if (!unit) return null;
  return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(-Math.floor(seconds / unit[1]), unit[0]);
}

/** "Firefox on Windows" in the words of the page.
 * @param {string} browser */
export function device(browser) {
  const [name, system] = browser.split(" on ");
  if (!name) return word("sessions.unknown");
  return system ? word("sessions.on", { browser: name, system }) : name;
}

// The words of the page in the reader's language. The page arrives with them in place; this module fills in those
// that scripts add, and all of them anew when the reader switches.

import { setCookie } from "./urls.js";

// The switch has the name of every language, in the order in which it goes through them, and shows the next one.
const names = [...document.querySelectorAll("#language span")];
const TAGS = Object.fromEntries(names.map((name) => [name.lang.split("-")[0], name.lang]));
const LANGUAGES = Object.keys(TAGS);
const ATTRIBUTES = { tLabel: "aria-label", tPlaceholder: "placeholder" };

/** @type {WeakMap<Element, Given | undefined>} */
const values = new WeakMap();
/** @type {Then[]} */
const followers = [];

// Those of all pages, and those of parts that few readers open.
const files = [""];

export let language = document.documentElement.lang.split("-")[0];
/** @type {Record<string, string>} */
let words = await load(language);

/** @param {string} wanted */
async function load(wanted) {
  const answers = await Promise.all(files.map((file) => fetch(new URL(`words/${wanted}${file}.json`, import.meta.url))));
  return Object.assign({}, ...(await Promise.all(answers.map((answer) => answer.json()))));
}

/** @param {string} part */
export async function addWords(part) {
  if (!files.includes(`-${part}`)) files.push(`-${part}`);
  words = await load(language);
}

/** `{count}` is filled in, and `{count:user|users}` is the first of the two where that is one.
 * @param {string} key @param {Given} [given] @returns {string} */
export function word(key, given = {}) {
  return (words[key] ?? key).replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (whole, name, one, many) => {
    if (many === undefined) return given[name] ?? whole;
    return String(given[name]) === "1" ? one : many;
  });
}

/** Put words into an element, now and after every switch of the language. No key empties it.
 * @param {HTMLElement} element @param {string} [key] @param {Given} [given] */
export function say(element, key, given) {
  values.set(element, given);
  if (!key) {
    delete element.dataset.t;
    element.textContent = "";
    return;
  }
  element.dataset.t = key;
  element.textContent = word(key, given);
}

/** @param {string} key */
export function known(key) {
  return key in words;
}

/** The language as Accept-Language wants it. */
export function tag() {
  return TAGS[language];
}

/** The language as dates want it: the browser's own kind of English, say, if it has one. */
export function locale() {
  return navigator.languages.find((kind) => kind.startsWith(language)) ?? TAGS[language];
}

/** For what is more than words, such as dates: called after every switch.
 * @param {Then} follower */
export function onLanguage(follower) {
  followers.push(follower);
}

/** @param {string} wanted */
function following(wanted) {
  return LANGUAGES[(LANGUAGES.indexOf(wanted) + 1) % LANGUAGES.length];
}

export async function switchLanguage() {
  const wanted = following(language);
  words = await load(wanted);
  language = wanted;
  setCookie("gatehouse_language", wanted);
  document.documentElement.lang = TAGS[wanted];
  for (const name of names) name.hidden = name.lang !== TAGS[following(wanted)];
  for (const element of document.querySelectorAll('[data-t]:not([data-t=""])')) {
    element.textContent = word(element.dataset.t ?? "", values.get(element) ?? element.dataset);
  }
  for (const [name, attribute] of Object.entries(ATTRIBUTES)) {
    const selector = `[data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}]`;
    for (const element of document.querySelectorAll(selector)) {
      element.setAttribute(attribute, word(element.dataset[name] ?? "", values.get(element)));
    }
  }
  for (const follower of followers) follower();
}

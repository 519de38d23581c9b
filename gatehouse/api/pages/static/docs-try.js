// Try an operation: what is sent can be edited, what comes back is shown whole, a captcha as the picture it is.

import { forget, kept, learn, onKept } from "./docs-next-request.js";
import { fields } from "./docs-schema.js";
import { make } from "./dom.js";
import { ROOT } from "./urls.js";
import { freshToken } from "./tokens.js";
import { say, tag } from "./words.js";

const SHOWN_HEADERS = ["content-type", "retry-after", "www-authenticate", "x-request-id"];

// These are typed into fields of their own that hide them, and never into a box that shows what it holds.
const HIDDEN = /password/i;

let serial = 0;

/** @param {Described} operation */
export function tryIt(operation) {
  const { method, path, secured, parameters, body, variants } = operation;
  const inputs = parameters.map((parameter) => ({ parameter, ...labelled("input", parameter.name, { class: "input mono", autocomplete: "off", spellcheck: "false" }) }));
  const secrets = body ? fields(body.schema).map(({ path: name }) => name).filter((name) => HIDDEN.test(name)) : [];
  const hidden = secrets.map((name) => ({ name, ...labelled("input", name, { class: "input mono", type: "password", autocomplete: "off" }) }));
  const content = body && labelled("textarea", null, { class: "input mono", rows: 7, spellcheck: "false" }, "docs.body");
  const headers = labelled("textarea", null, { class: "input mono", rows: secured || body ? 3 : 2, spellcheck: "false" }, "docs.headers");
  const answer = make("div", { class: "answer", "aria-live": "polite" });
  const send = make("button", { class: "button", t: "docs.send" });
  const as = secured && make("span", { class: "as", "data-as": true });

  /** @param {string} variant */
  const choose = (variant) => {
    if (content && body) content.input.value = bodyText(body, variants, variant);
    for (const { parameter, input } of inputs) input.value = parameter.examples?.[variant] ? known(parameter.name) : "";
    headers.input.value = headerText(Boolean(content?.input.value));
  };
  onKept(() => {
    if (content) content.input.value = refreshed(content.input.value);
    for (const { parameter, input } of inputs) if (input.value) input.value = known(parameter.name) || input.value;
  });
  choose(variants[0]);

  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    send.setAttribute("aria-busy", "true");
    const text = withSecrets(content?.input.value, hidden);
    const lines = await withToken(headers.input.value, secured);
    answer.replaceChildren(...(await exchange(method, address(path, inputs), lines, text)));
    send.removeAttribute("aria-busy");
    if (operation.name === "logout" && answer.querySelector(".good")) forget();
  };
  return make(
    "form",
    { class: "try", method: "post", submit },
    variants.length > 1 && variantSwitch(variants, choose),
    inputs.map(({ field }) => field),
    hidden.map(({ field }) => field),
    content?.field,
    body && takesCaptcha(body) && captchaButton(),
    headers.field,
    make("div", { class: "send-line" }, send, as),
    answer,
  );
}

/** @param {"input" | "textarea"} kind @param {string | null} text @param {Attributes} attributes @param {string} [words] */
function labelled(kind, text, attributes, words) {
  const id = `try-${(serial += 1)}`;
  const input = make(kind, { id, ...attributes });
  const label = make("label", { for: id, ...(words ? { t: words } : {}) }, text ?? "");
  return { input, field: make("div", { class: "field" }, label, input) };
}

/** @param {string[]} variants @param {(variant: string) => void} choose */
function variantSwitch(variants, choose) {
  const name = `variant-${(serial += 1)}`;
  const options = variants.map((variant, at) => {
    const radio = make("input", { type: "radio", name, value: variant, checked: at === 0, change: () => choose(variant) });
    return make("label", {}, radio, make("span", {}, variant));
  });
  return make("fieldset", { class: "variants" }, make("legend", { t: "docs.variant" }), options);
}

/** @param {{ schema: Schema }} body */
function takesCaptcha(body) {
  return fields(body.schema).some(({ path }) => path === "captchaId");
}

/** The picture beside the login, so that one need not scroll up to the captcha operation. */
function captchaButton() {
  const image = make("img", { width: 108, height: 44, alt: "", hidden: true });
  const ask = async () => {
    const { data } = await (await fetch(new URL("api/v1/auth/captcha", ROOT))).json();
    image.src = data.captchaImage;
    image.hidden = false;
    learn(data);
  };
  return make("div", { class: "captcha-line" }, make("button", { type: "button", class: "quiet lined", t: "docs.captcha", click: ask }), image);
}

/** @param {string} name */
function known(name) {
  return kept()[name] ?? "";
}

/** @param {NonNullable<Described["body"]>} body @param {string[]} variants @param {string} variant */
function bodyText(body, variants, variant) {
  const example = variants.length ? body.examples?.[variant]?.value : sample(body.schema);
  if (!example) return "";
  const open = Object.entries(example).filter(([name]) => !HIDDEN.test(name));
  return refreshed(JSON.stringify(Object.fromEntries(open), null, 2));
}

/** @param {Schema} schema */
function sample(schema) {
  return Object.fromEntries(fields(schema).map(({ path }) => [path, ""]));
}

/** A body with the newest captcha id and refresh token in their places; one that is being edited is left alone.
 * @param {string} text */
function refreshed(text) {
  try {
    const content = JSON.parse(text);
    for (const name of Object.keys(content)) content[name] = name in kept() ? known(name) : content[name];
    return JSON.stringify(content, null, 2);
  } catch {
    return text;
  }
}

/** @param {boolean} hasBody */
function headerText(hasBody) {
  const lines = [`Accept-Language: ${tag()}`];
  if (hasBody) lines.push("Content-Type: application/json");
  return lines.join("\n");
}

/** The token of the login goes along unless the reader has written an Authorization line.
 * @param {string} text @param {boolean} secured */
async function withToken(text, secured) {
  if (!secured || /^authorization:/im.test(text)) return text;
  const token = await freshToken().catch(() => null);
  return token ? `${text}\nAuthorization: Bearer ${token}` : text;
}

/** The body with what was typed into the hidden fields.
 * @param {string | undefined} text @param {{ name: string, input: { value: string } }[]} hidden */
function withSecrets(text, hidden) {
  const given = hidden.filter(({ input }) => input.value).map(({ name, input }) => [name, input.value]);
  if (!given.length) return text;
  try {
    return JSON.stringify({ ...JSON.parse(text || "{}"), ...Object.fromEntries(given) });
  } catch {
    return text; // not JSON, and the reader wants to see what the service says to that
  }
}

/** Beside every Send button that needs it: as whom.
 * @param {string} [name] */
export function showAs(name) {
  for (const line of document.querySelectorAll("[data-as]")) {
    line.classList.toggle("in", Boolean(name));
    say(line, name ? "docs.as" : "docs.as.nobody", { name });
  }
}

/** @param {string} path @param {{ parameter: Parameter, input: { value: string } }[]} inputs */
function address(path, inputs) {
  let filled = path.slice(1);
  const query = new URLSearchParams();
  for (const { parameter, input } of inputs) {
    if (parameter.in === "path") filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value) query.set(parameter.name, input.value);
  }
  return new URL(query.size ? `${filled}?${query}` : filled, ROOT);
}

/** @param {string} method @param {URL} url @param {string} headerLines @param {string} [body] */
async function exchange(method, url, headerLines, body) {
  const headers = headerLines.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => {
    const [name, ...value] = line.split(":");
    return /** @type {[string, string]} */ ([name.trim(), value.join(":").trim()]);
  });
  const began = performance.now();
  let answer, text;
  try {
    answer = await fetch(url, { method, headers, body: body || undefined });
    text = await answer.text();
  } catch (problem) {
    // Never sent: a header or address that the browser refuses, or no connection.
    return [make("p", { class: "status bad" }, problem.message)];
  }
  const took = performance.now() - began;
  if (answer.ok) await learn(parsed(text)?.data);
  return shown(answer, text, took);
}

/** @param {Response} answer @param {string} text @param {number} milliseconds */
function shown(answer, text, milliseconds) {
  const envelope = parsed(text);
  const picture = envelope?.data?.captchaImage ?? envelope?.data?.captchaBase64;
  const headers = SHOWN_HEADERS.filter((name) => answer.headers.has(name)).map((name) => `${name}: ${answer.headers.get(name)}`);
  return [
    make("p", { class: `status ${answer.ok ? "good" : "bad"}` }, make("strong", {}, String(answer.status)), ` ${envelope?.code ?? ""} · ${Math.round(milliseconds)} ms`),
    picture?.startsWith("data:image/") && make("img", { class: "picture", src: picture, width: 108, height: 44, alt: "captcha" }),
    make("pre", { class: "headers", tabindex: 0 }, headers.join("\n")),
    make("pre", { tabindex: 0 }, envelope ? JSON.stringify(envelope, shortened, 2) : text),
  ].filter((part) => part instanceof Node);
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The picture is shown above; its thousands of characters say nothing to a reader.
 * @param {string} _name @param {unknown} value */
function shortened(_name, value) {
  return typeof value === "string" && value.startsWith("data:image/") ? `${value.slice(0, 40)}…` : value;
}

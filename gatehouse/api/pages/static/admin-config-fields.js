// Controls for the fields of a configuration, by their names in the API: of directories, providers and applications.

import { control } from "./admin-forms.js";
import { make } from "./dom.js";
import { known, word } from "./words.js";

/** Lists are typed with spaces between. `words` begins the names of the words.
 * @param {SourceField} field @param {any} value @returns {SourceControl} */
export function configControl({ name, kind = "text", only, ...attributes }, value, prefix = "field") {
  const words = `${prefix}.${name}`;
  const hint = known(`${words}.hint`) ? `${words}.hint` : undefined;
  if (kind === "flag") return { name, only, ...flag(words, value) };
  if (Array.isArray(kind)) {
    const label = (/** @type {string} */ each) => ["kind", words].map((start) => `${start}.${each}`).find(known);
    const chosen = control(words, { kind: kind.map((each) => [each, label(each) ? word(String(label(each))) : each]), value, hint });
    return { name, only, ...chosen, read: () => chosen.input.value };
  }
  const shown = kind === "list" ? (value ?? []).join(" ") : String(value ?? "");
  const text = control(words, { kind: kind === "number" ? "number" : "text", value: shown, hint, spellcheck: "false", autocapitalize: "none", ...attributes });
  const { input } = text;
  const read = () => (kind === "number" ? Number(input.value) : kind === "list" ? input.value.split(/[\s,]+/).filter(Boolean) : input.value.trim());
  return { name, only, ...text, read };
}

/** @param {string} words @param {boolean} [checked] */
export function flag(words, checked) {
  const input = make("input", { type: "checkbox", checked });
  return { input, box: make("label", { class: "check" }, input, make("span", { t: words })), read: () => input.checked };
}

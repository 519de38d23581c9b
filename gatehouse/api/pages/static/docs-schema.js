// Shows JSON Schema as a list of fields.

import { make, prose } from "./dom.js";

/** @type {Record<string, Schema>} */
let components = {};

/** @param {Record<string, Schema>} schemas */
export function useComponents(schemas) {
  components = schemas;
}

/** @param {Schema} schema @returns {Schema} */
export function resolve(schema) {
  return schema?.$ref ? components[schema.$ref.split("/").at(-1)] : schema;
}

/** Fields of an object, those of nested objects below their parent under `parent.name` or `parent[].name`.
 * @param {Schema} schema @returns {Field[]} */
export function fields(schema, prefix = "") {
  const whole = resolve(schema);
  const required = new Set(whole.required);
  const either = new Set((whole.anyOf ?? []).flatMap((part) => part.required ?? []));
  return Object.entries(whole.properties ?? {}).flatMap(([name, given]) => {
    const property = withoutEmpty(given);
    const path = prefix + name;
    const inner = property.type === "array" ? resolve(property.items) : property;
    const nested = inner.properties ? fields(inner, property.type === "array" ? `${path}[].` : `${path}.`) : [];
    const need = required.has(name) ? "required" : either.has(name) ? "either" : "";
    return [{ path, need, type: typeOf(property), text: describe(property) }, ...nested];
  });
}

/** @param {Schema} schema */
export function requestFields(schema) {
  return make("ul", { class: "fields" }, fields(schema).map(fieldRow));
}

/** What an answer carries is always there: nothing is marked as required.
 * @param {Schema} schema */
export function answerFields(schema) {
  return make("ul", { class: "fields" }, fields(schema, "data.").map((field) => fieldRow({ ...field, need: "" })));
}

/** @param {Field} field */
function fieldRow({ path, need, type, text }) {
  return make(
    "li",
    {},
    make("code", { class: "name" }, path),
    make("span", { class: "type" }, type),
    need && make("span", { class: "need", t: `docs.${need}` }),
    text && make("span", { class: "text", lang: "en" }, prose(text)),
  );
}

/** @param {Parameter} parameter */
export function parameterRow(parameter) {
  const schema = withoutEmpty(parameter.schema);
  const need = parameter.required ? "required" : "";
  return fieldRow({ path: parameter.name, need, type: typeOf(schema), text: parameter.description ?? describe(schema) });
}

/** @param {Schema} schema */
function withoutEmpty(schema) {
  const choices = schema.anyOf?.filter((choice) => choice.type !== "null" && choice.maxLength !== 0);
  return resolve(choices?.length === 1 ? { ...schema, ...choices[0], anyOf: undefined } : schema);
}

/** @param {Schema} schema @returns {string} */
function typeOf(schema) {
  if (schema.type === "array") return `${typeOf(resolve(schema.items))}[]`;
  return schema.type ?? "any";
}

/** @param {Schema} schema */
function describe(schema) {
  const parts = [schema.description];
  if (schema.enum) parts.push(schema.enum.map((/** @type {string} */ value) => `\`${value}\``).join(", "));
  if (schema.maxLength) parts.push(`At most ${schema.maxLength} characters.`);
  if (schema.examples) parts.push(`Example: \`${schema.examples[0]}\`.`);
  return parts.filter(Boolean).join(" ");
}

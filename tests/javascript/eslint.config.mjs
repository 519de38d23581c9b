// The lint of the pages' JavaScript. Run it through `make check`.

import js from "@eslint/js";
import globals from "globals";

const TEXT_ONLY = "Text is always text: nothing on any page turns a string into markup.";

export default [
  js.configs.recommended,
  {
    languageOptions: { globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "array-callback-return": "error",
      "consistent-return": "off", // a handler that leaves early returns nothing
      "default-param-last": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-console": "error",
      "no-constructor-return": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-promise-executor-return": "off", // the executors here are one expression
      "no-restricted-properties": ["error", ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map((property) => ({ property, message: TEXT_ONLY }))],
      "no-return-assign": ["error", "except-parens"],
      "no-self-compare": "error",
      "no-sequences": ["error", { allowInParentheses: false }],
      "no-template-curly-in-string": "error",
      "no-throw-literal": "error",
      "no-unmodified-loop-condition": "error",
      "no-unreachable-loop": "error",
      "no-unused-expressions": ["error", { allowTernary: true, allowShortCircuit: true }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
      radix: "error",
      "require-atomic-updates": "off", // a later answer may overtake: each place that minds counts its turns
    },
  },
];

// Enrolling an authenticator app in two steps, and the recovery codes that come along. For the account page, and for the
// login page where a second factor is required.

import { copyButton } from "./copy.js";
import { dialogForm, open } from "./dialog.js";
import { make } from "./dom.js";
import { busy } from "./fields.js";
import { word } from "./words.js";

/** Show the QR code, ask for a first code, confirm it. `confirm(code)` gives the recovery codes; `why` is said first.
 * @param {NewTotpData} fresh @param {(code: string) => Promise<RecoveryCodesData>} confirm @param {Then} done @param {string} [why] */
export function enrol({ secret, uri, qrCode }, confirm, done, why) {
  const code = make("input", { class: "input", id: "totp-code", inputmode: "numeric", autocomplete: "one-time-code", maxlength: 8, "aria-describedby": "totp-code-message" });
  const message = make("p", { class: "message", id: "totp-code-message", role: "alert" });
  const submit = make("button", { class: "button", t: "totp.confirm" });
  const cancel = make("button", { type: "button", class: "quiet lined", t: "dialog.cancel", click: () => dialog.close() });
  // A phone cannot scan its own screen.
  const link = make("a", { class: "quiet lined by-touch", href: uri, t: "totp.open" });
  const form = dialogForm(
    [
      why && make("p", { class: "notice", t: why }),
      make("p", { class: "muted", t: "totp.scan" }),
      link,
      make("img", { class: "qr", src: qrCode, alt: word("totp.qr"), width: 180, height: 180 }),
      make("div", { class: "secret-line" }, make("p", { class: "muted" }, make("span", { t: "totp.secret" }), " ", make("code", { class: "secret" }, secret.replace(/(.{4})(?=.)/g, "$1 "))), copyButton(secret, { words: "totp.copy" })),
      make("div", { class: "field" }, make("label", { for: "totp-code", t: "totp.code" }), code),
    ],
    message,
    cancel,
    submit,
  );
  const dialog = open("totp.title", {}, form);
  // On a phone the keyboard would hide what there is to do first.
  (matchMedia("(pointer: coarse)").matches ? link : code).focus();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (submit.getAttribute("aria-disabled") === "true") return;
    busy(submit, true);
    try {
      const { recoveryCodes } = await confirm(code.value.replace(/\s/g, ""));
      dialog.close();
      showCodes(recoveryCodes, done);
    } catch (failure) {
      busy(submit, false);
      message.textContent = failure.message || word("unforeseen");
      code.select();
      code.scrollIntoView({ block: "end" });
    }
  });
}

/** Shown once: to copy, download or print. The dialog closes only by its button.
 * @param {string[]} codes @param {Then} done */
export function showCodes(codes, done) {
  const text = `Gatehouse\n${location.origin}\n\n${codes.join("\n")}\n`;
  /** @param {string} words @param {Then} click */
  const act = (words, click) => make("button", { type: "button", class: "quiet lined", t: words, click });
  const list = make("ul", { class: "codes-list" }, codes.map((code) => make("li", {}, make("code", {}, code))));
  const close = make("button", { type: "button", class: "button", t: "codes.kept", click: () => dialog.close() });
  const dialog = open("codes.title", {}, make("p", { class: "muted", t: "codes.text" }), list,
    make("div", { class: "acts" }, copyButton(text), act("codes.download", () => download(text)), act("codes.print", () => print()), close));
  dialog.classList.add("printed");
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.addEventListener("close", done);
}

/** @param {string} text */
function download(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  make("a", { href: url, download: "gatehouse-recovery-codes.txt" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

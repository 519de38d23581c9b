// Editing one's own nickname and picture.

import { dialogForm, open } from "./dialog.js";
import { make } from "./dom.js";
import { busy, clear, complain, complainInWords, prepare } from "./fields.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";

const ALLOWED = /^(https?:\/\/|data:image\/)/;

/** A dialog with both; `saved` is called once they are kept.
 * @param {ProfileData} profile @param {Then} saved @param {OnFailure} report */
export function editProfile({ nickname, avatar }, saved, report) {
  const name = field("profile.nickname", "edit-nickname", nickname, { maxlength: 64 });
  const picture = field("profile.avatar", "edit-avatar", ALLOWED.test(avatar) ? avatar : "", { maxlength: 1024, inputmode: "url" });
  const save = make("button", { class: "button", t: "dialog.save" });
  const cancel = make("button", { type: "button", class: "quiet lined", t: "dialog.cancel", click: () => dialog.close() });
  const form = dialogForm([name.box, picture.box], null, cancel, save);
  const dialog = open("profile.edit", {}, form);
  prepare(form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clear(name.input, picture.input);
    const values = { nickname: name.input.value.trim(), avatar: picture.input.value.trim() };
    if (!values.nickname) return refuse(name.input, "needed.nickname");
    if (values.avatar && !ALLOWED.test(values.avatar)) return refuse(picture.input, "profile.avatar.bad");
    busy(save, true);
    try {
      await ask("PUT", "users/profile", values);
      dialog.close();
      succeed("profile.saved");
      await saved();
    } catch (failure) {
      busy(save, false);
      if (failure.code?.startsWith("A04")) complainInWords(picture.input, failure.message);
      else {
        dialog.close();
        report(failure);
      }
    }
  });
}

/** @param {HTMLInputElement} input @param {string} words */
function refuse(input, words) {
  complain(input, words);
  input.focus();
}

/** @param {string} words @param {string} id @param {string} value @param {Attributes} attributes */
function field(words, id, value, attributes) {
  const input = make("input", { class: "input", id, value, autocomplete: "off", "aria-describedby": `${id}-message`, ...attributes });
  const message = make("p", { class: "message plain", id: `${id}-message`, "aria-live": "polite", "data-rest": `${words}.hint`, t: `${words}.hint` });
  return { input, box: make("div", { class: "field" }, make("label", { for: id, t: words }), make("div", { class: "box" }, input), message) };
}

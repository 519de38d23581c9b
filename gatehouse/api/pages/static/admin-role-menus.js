// The menus of a role, as a tree of boxes; what changes is shown before it is saved.

import { attempt, formDialog } from "./admin-forms.js";
import { make } from "./dom.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { say, word } from "./words.js";

/** @param {RoleRow} role @param {boolean} mayAssign @param {Then} then */
export async function editMenus(role, mayAssign, then) {
  await attempt(async () => {
    const [menus, ids] = await Promise.all([ask("GET", "menus/options"), ask("GET", `roles/${role.id}/menu-ids`)]);
    const held = new Set(ids);
    const wanted = new Set(ids);
    /** @type {Map<string, string[]>} */
    const names = new Map();
    const changes = make("ul", { class: "diff", tabindex: 0, "aria-label": word("menus.changes"), "data-t-label": "menus.changes" });
    const tree = make("ul", { class: "menu-tree" }, menus.map((menu) => branch(menu, [])));

    /** @param {OptionData} menu @param {string[]} above @returns {HTMLElement} */
    function branch({ value, label, children = [] }, above) {
      const path = [...above, value];
      names.set(value, [...(names.get(above.at(-1) ?? "") ?? []), label]);
      const box = make("input", { type: "checkbox", value, checked: held.has(value), disabled: !mayAssign, change: ({ target }) => choose(path, target.checked) });
      return make("li", {}, make("label", {}, box, make("span", {}, label)), children.length > 0 && make("ul", {}, children.map((child) => branch(child, path))));
    }

    /** A menu comes with those above it, and goes with those below it.
     * @param {string[]} path @param {boolean} on */
    function choose(path, on) {
      const boxes = [.../** @type {NodeListOf<HTMLInputElement>} */ (tree.querySelectorAll("input"))];
      const own = boxes.find(({ value }) => value === path.at(-1))?.closest("li");
      const touched = on ? path : boxes.filter((box) => own?.contains(box)).map(({ value }) => value);
      for (const id of touched) on ? wanted.add(id) : wanted.delete(id);
      for (const box of boxes) box.checked = wanted.has(box.value);
      show();
    }

    function show() {
      /** @param {string} sign @param {string} kind @returns {(id: string) => HTMLElement} */
      const line = (sign, kind) => (id) => make("li", { class: kind }, `${sign} ${names.get(id)?.join(" / ")}`);
      const known = [...names.keys()];
      changes.replaceChildren(
        ...known.filter((id) => wanted.has(id) && !held.has(id)).map(line("+", "plus")),
        ...known.filter((id) => held.has(id) && !wanted.has(id)).map(line("−", "minus")),
      );
      if (!changes.childElementCount) changes.append(make("li", { class: "muted", t: "menus.same" }));
    }

    const about = make("p", { class: "muted" });
    say(about, "menus.text");
    show();
    formDialog({
      title: "menus.of",
      given: { name: role.name },
      wide: true,
      content: [about, tree, make("h3", { t: "menus.changes" }), changes],
      submit: async () => {
        if (mayAssign) {
          await ask("PUT", `roles/${role.id}/menus`, [...wanted]);
          succeed("roles.saved");
        }
        await then();
      },
    });
  });
}

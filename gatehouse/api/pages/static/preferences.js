// The two switches at the top of every page: language, and light or dark.

import { setCookie } from "./urls.js";
import { switchLanguage } from "./words.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

function switchTheme() {
  const page = document.documentElement;
  const now = page.dataset.theme === "auto" ? (dark.matches ? "dark" : "light") : page.dataset.theme;
  const wanted = now === "dark" ? "light" : "dark";
  const preferred = dark.matches ? "dark" : "light";
  // Back at what the browser prefers is back at following it.
  page.dataset.theme = wanted === preferred ? "auto" : wanted;
  setCookie("gatehouse_theme", wanted === preferred ? "" : wanted);
}

document.getElementById("language").addEventListener("click", switchLanguage);
document.getElementById("theme").addEventListener("click", switchTheme);

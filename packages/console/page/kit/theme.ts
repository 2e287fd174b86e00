// Light or dark: as the system says, unless the person has chosen.
const KEY = "trunkline-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

type Theme = "light" | "dark";

export function currentTheme(): Theme {
  const chosen = localStorage.getItem(KEY);
  if (chosen === "light" || chosen === "dark") return chosen;
  return dark.matches ? "dark" : "light";
}

export function startTheme(): void {
  apply();
  dark.addEventListener("change", apply);
}

export function setTheme(theme: Theme): void {
  // What the system says anyway need not be remembered, and follows it from then on.
  if (theme === (dark.matches ? "dark" : "light")) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  apply();
}

function apply(): void {
  document.documentElement.dataset.theme = currentTheme();
  window.dispatchEvent(new Event("themechange"));
}

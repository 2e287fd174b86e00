// Where the person is: the page, its parameters and the workspace. The address has it, so that it can be reloaded and
// bookmarked.
import { useEffect, useState } from "preact/hooks";

export const PAGES = ["servers", "traffic", "tools", "questions", "store", "graph", "settings"] as const;
export type PageName = (typeof PAGES)[number];

export interface Place {
  readonly page: PageName;
  readonly params: Readonly<Record<string, string>>;
}

export function currentPlace(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const page = PAGES.find((name) => name === path) ?? "servers";
  return { page, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a place, for links. Empty parameters are left out. */
export function addressOf(page: PageName, params: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(params).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? `#/${page}` : `#/${page}?${new URLSearchParams(given)}`;
}

export function goTo(page: PageName, params?: Readonly<Record<string, string | undefined>>): void {
  location.hash = addressOf(page, params);
}

/** Changes parameters of this page without a new entry in the history. */
export function setParams(change: Readonly<Record<string, string | undefined>>): void {
  const { page, params } = currentPlace();
  history.replaceState(null, "", addressOf(page, { ...params, ...change }));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

export function usePlace(): Place {
  const [place, setPlace] = useState(currentPlace);
  useEffect(() => {
    const onChange = () => setPlace(currentPlace());
    window.addEventListener("hashchange", onChange);
    return () => window.removeEventListener("hashchange", onChange);
  }, []);
  return place;
}

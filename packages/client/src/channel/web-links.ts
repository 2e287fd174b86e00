// Links that a server shows to a person: only to the web over an encrypted connection, or to this machine.

/** Returns why a person must not be sent to this address; undefined if it is fine. */
export function linkProblem(link: string): string | undefined {
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(link)) return "its address has hidden characters";
  const url = URL.canParse(link) ? new URL(link) : undefined;
  if (url === undefined || url.hostname === "") return "its address is not that of a web page";
  if (url.username !== "" || url.password !== "") return "its address has a name before the host";
  if (url.protocol === "https:") return undefined;
  if (url.protocol !== "http:") return `${url.protocol} is not the scheme of a web page`;
  return isLoopback(url.hostname) ? undefined : "its connection is not encrypted";
}

function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** A scheme with something behind it. Only those with slashes, and those that browsers run or open without them. */
const LINK =
  /(?<![a-z0-9+.-])(?:(?:javascript|vbscript|data|file|blob|filesystem|view-source|intent|jar|ms-[a-z-]+):(?=\S)|[a-z][a-z0-9+.-]*:(?=[\\/]{2}))[^\s<>"'`)\]]*/giu;

/** Breaks every link in a text that {@link linkProblem} refuses, so that no program makes it clickable. */
export function defuseLinks(text: string): string {
  return text.replace(LINK, (link) => (linkProblem(link) === undefined ? link : link.replace(":", ": ")));
}

// A headless browser with cookies, for tests. It opens a sign-in URL and follows redirects.

/**
 * Opens a URL and follows every redirect. `until` names the URL at which to stop without opening it: the one a user
 * would copy if the browser cannot reach it.
 *
 * @param {string} url
 * @param {{ until?: (url: URL) => boolean }} [options]
 * @returns {Promise<{ url: string, status: number | undefined, text: string }>} where it ended
 */
export async function browse(url, { until = () => false } = {}) {
  /** @type {Map<string, string>} */
  const cookies = new Map();
  let at = new URL(url);
  for (let hops = 0; hops < 20; hops++) {
    if (until(at)) return { url: at.href, status: undefined, text: "" };
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(at, { redirect: "manual", headers: cookie === "" ? {} : { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split(/=(.*)/s);
      cookies.set(name, value);
    }
    const text = await response.text();
    const location = response.headers.get("location");
    if (location === null) return { url: at.href, status: response.status, text };
    at = new URL(location, at);
  }
  throw new Error(`too many redirects from ${url}`);
}

/** Whether a URL is on this machine's loopback listener, where a sign-in ends. @param {URL} url */
export function isCallback(url) {
  return url.pathname === "/callback";
}

// For tests: a browser with cookies and nobody in front of it. It opens the address of a sign-in and goes where it is sent.

/**
 * Opens an address and follows every redirect. `until` names the address at which to stop without opening it: the one that
 * a person would copy where the browser cannot reach it.
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
  throw new Error(`the redirects from ${url} do not end`);
}

/** Whether an address is on this machine's loopback listener: where a sign-in ends. @param {URL} url */
export function isCallback(url) {
  return url.pathname === "/callback";
}

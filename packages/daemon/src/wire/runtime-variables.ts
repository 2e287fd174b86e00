// Environment variables that Node and the system read once per process. The broker has the values of the client that
// started it, so it serves only clients with the same values.

const NAMES = [
  // Whom to trust, and how to reach others.
  ...["NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_USE_SYSTEM_CA", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["OPENSSL_CONF", "OPENSSL_MODULES", "RES_OPTIONS", "LOCALDOMAIN", "HOSTALIASES"],
  // Wrappers such as torsocks.
  ...["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH"],
  "TZ",
];

const PROXIES = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"];

/** The options in NODE_OPTIONS that decide the same. Others, such as a debugger's, are the client's own affair. */
const OPTIONS =
  /(?:^|\s)--(?:no-)?(?:use-|tls-|openssl|dns-|secure-|permission|experimental-permission|allow-|.*fips)\S*/g;

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns these variables of an environment. */
export function runtimeVariables(env: Environment): Record<string, string> {
  const names = [...NAMES, ...(env.NODE_USE_ENV_PROXY === "1" ? ["NODE_USE_ENV_PROXY", ...PROXIES] : [])];
  const options = (env.NODE_OPTIONS?.match(OPTIONS) ?? []).map((option) => option.trim()).join(" ");
  const values = Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  return { ...values, ...(options === "" ? {} : { NODE_OPTIONS: options }) };
}

/** Returns the first of these variables in which two environments differ. */
export function runtimeDifference(one: Environment, other: Environment): string | undefined {
  const [a, b] = [runtimeVariables(one), runtimeVariables(other)];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].find((name) => a[name] !== b[name]);
}

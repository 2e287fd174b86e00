import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("./look-for-update-process.js", import.meta.url));

/** Looks for a newer version in a process of its own. This one neither waits for it nor stays because of it. */
export function startLookForUpdate(home: string): void {
  const { NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR, SYSTEMROOT } = process.env;
  const child = spawn(process.execPath, [SCRIPT, home], {
    cwd: tmpdir(),
    env: { NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR, SYSTEMROOT },
    stdio: "ignore",
    detached: true,
    windowsHide: true,
  });
  child.on("error", () => {});
  child.unref();
}

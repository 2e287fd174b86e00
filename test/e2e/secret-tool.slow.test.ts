// The real `secret-tool` with a real keyring, on a session bus of its own.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { needs } from "../support/needs.js";
import { bin, outcomeOf, Place, root } from "./command.js";

const PROGRAMS = ["secret-tool", "gnome-keyring-daemon", "dbus-run-session"];
const hasKeyring = PROGRAMS.every((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0);

const mirror = join(root, "test", "servers", "mirror.js");
const VALUE = "s3cr3t 'value' \"0815\" é";

/** Runs shell commands with an unlocked keyring, which ends with them. */
async function withKeyring(place: Place, commands: string) {
  const runtime = join(place.base, "run");
  mkdirSync(runtime, { mode: 0o700 });
  const script = `printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1\n${commands}`;
  const child = spawn("dbus-run-session", ["--", "sh", "-c", script], {
    cwd: place.cwd,
    env: {
      ...{ PATH: process.env.PATH, HOME: place.home, XDG_RUNTIME_DIR: runtime, TRUNKLINE_BROKER: "off" },
      ...{ NODE: process.execPath, BIN: bin, MIRROR: mirror, VALUE },
    },
  });
  return await outcomeOf(child);
}

describe(`the keyring of this system${needs("secret-tool and gnome-keyring", hasKeyring)}`, () => {
  it.skipIf(!hasKeyring)("keeps a secret, gives it to a server, and forgets it", async () => {
    using place = new Place();
    const { stdout, stderr } = await withKeyring(
      place,
      `t() { "$NODE" "$BIN" "$@"; }
      printf '%s' "$VALUE" | t secrets set TOKEN
      secret-tool lookup service trunkline name TOKEN; echo
      t servers add u --user --env 'T=\${secret:TOKEN}' -- "$NODE" -e 'console.error("length", process.env.T.length, process.env.T); process.exit(1)'
      t tools
      t servers add v --user --env 'T=\${secret:MISSING}' -- "$NODE" "$MIRROR"
      t call v.show
      t secrets remove TOKEN
      secret-tool lookup service trunkline name TOKEN || echo "nothing left"`,
    );
    expect(stdout).toContain('Saved "TOKEN"');
    expect(stdout).toContain(`${VALUE}\n`);
    expect(stderr).toContain(`length ${VALUE.length} <redacted>`);
    expect(stderr).not.toContain(VALUE);
    expect(stderr).toContain('has no secret "MISSING"');
    expect(stdout).toContain("nothing left");
  });

  it.skipIf(!hasKeyring)("is reported missing without a session bus", async () => {
    using place = new Place();
    const env = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere/bus" };
    const { code, stderr } = await place.runProcess(["secrets", "set", "TOKEN"], { env, input: VALUE });
    expect(stderr).toContain("cannot be used");
    expect(stderr).toContain("Is the keychain unlocked");
    expect(code).toBe(2);
  });
});

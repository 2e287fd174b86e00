// The files of deploy/, without containers: what they start, what they show, and that they fit together.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../e2e/command.js";

// The parser of a package, which is not a dependency of the tests.
const { parse } = createRequire(join(root, "packages/gateway/package.json"))("yaml") as {
  parse(text: string, options: object): unknown;
};

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly args: Record<string, string> };
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Record<string, string>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Record<string, { readonly condition: string }>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Record<string, Service>;
  readonly volumes: Record<string, unknown>;
  readonly secrets: Record<string, { readonly file: string }>;
}

const deploy = join(root, "deploy");
const textOf = (name: string) => readFileSync(join(deploy, name), "utf8");
const composeOf = (name: string): Compose =>
  parse(textOf(name), { merge: true, customTags: [{ tag: "!override", collection: "seq" }] }) as Compose;
const compose = composeOf("compose.yaml");
const { services } = compose;
const settings = Object.fromEntries(
  textOf(".env.example")
    .split("\n")
    .flatMap((line) => (/^\w+=/.test(line) ? [line.split("=", 2) as [string, string]] : [])),
);

describe("the compose file", () => {
  it("starts two gateways, a database and a load balancer, each with a health check", () => {
    expect(Object.keys(services).sort()).toEqual(["balancer", "database", "gateway-1", "gateway-2"]);
    for (const { healthcheck, image } of Object.values(services)) {
      expect(healthcheck?.test[0]).toMatch(/^CMD/);
      expect(image).toMatch(/:.+/);
    }
    expect(services.database?.image).toContain("pgvector");
    expect(services.balancer?.depends_on).toMatchObject({
      "gateway-1": { condition: "service_healthy" },
      "gateway-2": { condition: "service_healthy" },
    });
  });

  it("publishes only the load balancer, on this machine unless the operator says otherwise", () => {
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
    expect(published).toEqual([["balancer", "${LISTEN:-127.0.0.1:8080}:8080"]]);
    expect(composeOf("compose.tls.yaml").services.balancer?.ports).toEqual(["443:8443"]);
  });

  it("passes secrets as files, never in the environment or the address of the store", () => {
    for (const name of ["gateway-1", "gateway-2"]) {
      expect(services[name]?.secrets).toEqual(["database_password", "gateway_token"]);
      expect(services[name]?.environment?.TRUNKLINE_STORE).toBe("postgres://trunkline@database/trunkline");
    }
    for (const { environment = {} } of Object.values(services)) {
      const secret = Object.entries(environment).filter(([key]) => /PASSWORD|TOKEN|SECRET/.test(key));
      expect(secret.every(([key, value]) => key.endsWith("_FILE") && value.startsWith("/run/secrets/"))).toBe(true);
    }
    const ignored = textOf(".gitignore").split("\n");
    expect(ignored).toContain("secrets/");
    for (const file of ["compose.yaml", "compose.tls.yaml"])
      for (const { file: path } of Object.values(composeOf(file).secrets)) expect(path).toMatch(/^\.\/secrets\//);
    expect(readdirSync(deploy)).not.toContain(".env");
  });

  it("uses only what it declares", () => {
    const declared = [...Object.keys(compose.volumes), ...readdirSync(deploy), "mcp.json"];
    for (const { volumes = [], secrets = [], build } of Object.values(services)) {
      for (const volume of volumes) expect(declared).toContain(volume.split(":")[0]?.replace("./", ""));
      for (const secret of secrets) expect(Object.keys(compose.secrets)).toContain(secret);
      if (build !== undefined) expect(textOf("Dockerfile")).toContain(`ARG ${Object.keys(build.args)[0]}`);
    }
    const variables = [...textOf("compose.yaml").matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => name);
    expect([...new Set(variables)].sort()).toEqual(Object.keys(settings).sort());
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    expect(settings.TRUNKLINE_VERSION).toBe(version);
  });

  it("gives a gateway longer to stop than it may take to drain", () => {
    const [, drain = "0"] = /\$\{DRAIN:-(\d+)\}/.exec(textOf("gateway.sh")) ?? [];
    // It drains, lets calls finish for the same time, and closes the store.
    for (const name of ["gateway-1", "gateway-2"])
      expect(Number.parseInt(services[name]?.stop_grace_period ?? "0", 10)).toBeGreaterThanOrEqual(
        2 * Number(drain) + 10,
      );
  });
});

describe("nginx.conf", () => {
  it("knows every gateway of the compose file by its name", () => {
    const config = textOf("nginx.conf");
    const gateways = Object.keys(services).filter((name) => name.startsWith("gateway-"));
    for (const name of gateways) {
      expect(services[name]?.environment?.GATEWAY).toBe(name);
      const group = name.replace("-", "_");
      expect(config).toContain(`"~^${name}\\." ${group};`);
      expect(config).toMatch(new RegExp(`upstream ${group} \\{\\s+server ${name}:7411 max_fails=0;`));
    }
    expect(config.match(/server gateway-\d:7411 max_fails=1/g)).toHaveLength(gateways.length);
  });
});

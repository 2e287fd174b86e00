import { REDACTED, Redactor } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { Place } from "./place.js";

describe("secret values", () => {
  it("come from headers, env, envFile, variables and inputs, but are never existing paths", async () => {
    using place = new Place({ "x.env": "FILE_KEY=from-env-file" });
    const mcpPath = place.write("m.json", {
      inputs: [{ id: "pin", type: "promptString" }],
      servers: {
        local: {
          type: "stdio",
          command: "${env:PROGRAM}",
          args: [
            "--key=${env:ARG_KEY}",
            "--pin=${input:pin}",
            "${env:HOME}",
            "${workspaceFolder}",
            "${env:UNSET:-fallback}",
          ],
          env: {
            LITERAL: "literal-secret",
            PATH: "/usr/bin:/opt",
            FOLDER: "${workspaceFolder}",
            GONE: "/no/such/path",
          },
          envFile: "x.env",
        },
        net: {
          type: "http",
          url: "https://x.example/${env:URL_KEY}",
          headers: { Authorization: "Bearer header-token", B: "Basic dXNlcjpwYXNzd29yZA==", C: "${env:TOKEN}" },
        },
        off: { type: "stdio", command: "c", disabled: true, env: { K: "disabled-secret" } },
      },
    });
    const { secrets } = await place.load({
      mcpPath,
      env: {
        PROGRAM: "program-name",
        ARG_KEY: "arg-secret",
        HOME: "/home/of/somebody",
        URL_KEY: "url-secret",
        TOKEN: "token-secret",
        UNUSED: "unused-secret",
      },
      prompt: async () => "987654",
    });
    expect([...secrets].sort()).toEqual(
      [
        "program-name",
        "arg-secret",
        "987654",
        "literal-secret",
        "from-env-file",
        "/no/such/path",
        "url-secret",
        "Bearer header-token",
        "header-token",
        "Basic dXNlcjpwYXNzd29yZA==",
        "dXNlcjpwYXNzd29yZA==",
        "password",
        "token-secret",
        "disabled-secret",
      ].sort(),
    );
    expect(new Redactor().add(...secrets).text("401 for header-token")).toBe(`401 for ${REDACTED}`);
  });

  it("do not appear in any diagnostic", async () => {
    using place = new Place();
    const mcpPath = place.write("m.json", {
      mcpServers: {
        a: { url: "${BASE}", headers: { A: "${TOKEN}" } },
        b: { command: "c", env: { A: "${TOKEN}", B: {} } },
        c: { command: "c", envFile: "${TOKEN}" },
      },
    });
    const config = await place.load({ mcpPath, env: { BASE: "not-a-url-secret", TOKEN: "token-secret" } });
    const redactor = new Redactor().add(...config.secrets);
    expect(redactor.value(JSON.stringify(config.diagnostics))).not.toContain("-secret");
    expect(JSON.stringify(config.files)).not.toContain("-secret");
  });
});

import { describe, expect, it } from "vitest";
import { Redactor } from "../src/index.js";

describe("a URL that is a secret", () => {
  const shown = (secret: string, text: string) => new Redactor().add(secret).text(text);

  it("keeps its host", () => {
    expect(shown("https://x.example/a/b", "at https://x.example/a/b:")).toBe("at https://x.example/<redacted>:");
    expect(shown("https://x.example:8443", "at https://x.example:8443/mcp")).toBe("at https://x.example:8443/mcp");
  });

  it("hides a short password together with its user", () => {
    const text = shown("postgres://ann:pw@db.example/main", "cannot reach postgres://ann:pw@db.example:5432, ann said");
    expect(text).toBe("cannot reach postgres://<redacted>@db.example:5432, ann said");
  });

  it("hides its secrets elsewhere", () => {
    const redactor = new Redactor().add("https://x.example/mcp?token=hunter2");
    expect(redactor.text("token hunter2 rejected")).toBe("token <redacted> rejected");
    expect(redactor.text(JSON.stringify({ url: "https://x.example/mcp?token=hunter2" }))).not.toContain("hunter2");
  });

  it("is found as the URL parser writes it", () => {
    expect(shown("https://X.example/a b?k=1 2".replaceAll(" ", ""), "https://x.example/ab?k=12")).toBe(
      "https://X.example/<redacted>",
    );
  });
});

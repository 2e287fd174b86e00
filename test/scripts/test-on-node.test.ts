import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { environmentFor, newestRelease } from "../../scripts/test-on-node.js";

describe("newestRelease", () => {
  it("compares numbers and ignores prereleases and other majors", () => {
    const versions = ["2.9.0", "24.9.0", "24.21.0", "24.22.0-rc.1", "24.3.0", "25.0.0"];
    expect(newestRelease(versions, "24")).toBe("24.21.0");
    expect(newestRelease(versions, "26")).toBeUndefined();
  });
});

describe("environmentFor", () => {
  it("puts the other Node first and drops what npm says about the checkout", () => {
    const environment = {
      PATH: [join("/checkout", "node_modules", ".bin"), "/usr/bin"].join(delimiter),
      HOME: "/home/me",
      NODE: "/usr/bin/node",
      INIT_CWD: "/checkout",
      npm_package_json: "/checkout/package.json",
      npm_config_local_prefix: "/checkout",
      npm_config_nodedir: "/usr",
      npm_config_cache: "/cache",
    };
    expect(environmentFor(environment, "/node24")).toEqual({
      PATH: [join("/node24", "bin"), "/usr/bin"].join(delimiter),
      HOME: "/home/me",
      npm_config_nodedir: "/node24",
      npm_config_cache: "/cache",
    });
  });
});

import { describe, expect, it } from "vitest";
import { publishedManifest, rewriteTypes } from "../../scripts/pack.js";

describe("publishedManifest", () => {
  it("keeps only the dependencies that are not in the bundle", () => {
    const manifest = publishedManifest(
      {
        name: "trunkline",
        version: "1.0.0",
        private: true,
        scripts: { build: "x" },
        exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
        dependencies: { "@trunkline/core": "1.0.0", commander: "14.0.0", "web-tree-sitter": "0.27.0" },
        optionalDependencies: { "better-sqlite3": "12.0.0 || 13.0.0" },
      },
      "cli/index.d.ts",
    );
    expect(manifest).toEqual({
      name: "trunkline",
      version: "1.0.0",
      exports: { ".": { types: "./types/cli/index.d.ts", default: "./bundle/trunkline.cjs" } },
      dependencies: { "web-tree-sitter": "0.27.0" },
      optionalDependencies: { "better-sqlite3": "12.0.0 || 13.0.0" },
    });
  });
});

describe("rewriteTypes", () => {
  const rewritten = (text: string) =>
    rewriteTypes(text, (specifier) => (specifier.startsWith("@trunkline/") ? "../core/index.js" : undefined));

  it("changes imports of our packages, also over several lines and inside types", () => {
    expect(rewritten('import {\n  A,\n} from "@trunkline/core";\nexport type B = import("@trunkline/core").C;\n')).toBe(
      'import {\n  A,\n} from "../core/index.js";\nexport type B = import("../core/index.js").C;\n',
    );
  });

  it("leaves comments and Node alone, and drops the source map", () => {
    const text = '/**\n * import { x } from "@trunkline/core";\n */\nimport { A } from "node:fs";\n';
    expect(rewritten(`${text}//# sourceMappingURL=a.d.ts.map\n`)).toBe(text);
  });

  it("replaces types of other packages, and refuses what is more than a type", () => {
    expect(rewritten('import type { A, B as C } from "zod";\n')).toBe("type A = any;\ntype C = any;\n");
    expect(rewritten('import { type A } from "zod";\n')).toBe("type A = any;\n");
    expect(() => rewritten('export { A } from "zod";\n')).toThrow("Cannot pack the types of zod");
  });
});

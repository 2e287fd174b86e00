// Draws docs/terminal.svg, the picture in the README, from the actual output of the built command. Run it after
// changing the output: node scripts/terminal-picture.js
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "packages", "cli", "bin", "trunkline.cjs");
const everything = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist",
  "index.js",
);
const COLUMNS = 110;
const LINE_HEIGHT = 18;
const CHARACTER_WIDTH = 7.8;

const home = mkdtempSync(join(tmpdir(), "trunkline-picture-"));
const cwd = join(home, "notes");
mkdirSync(cwd);
mkdirSync(join(home, ".trunkline"));
writeFileSync(
  join(home, ".trunkline", "settings.json"),
  JSON.stringify({
    mcpServers: {
      everything: { command: "node", args: [everything] },
      hello: { command: "node", args: [join(root, "test", "servers", "hello.js")] },
      tracker: { command: "tracker-mcp" },
    },
  }),
);

/** @type {{ text: string, typed: boolean }[]} */
const lines = [];
for (const args of [["doctor"], ["tools", "hello.*"], ["call", "hello.hello", "name=Ada"]]) {
  const { stdout } = spawnSync(process.execPath, [bin, ...args], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: home },
  });
  lines.push({
    text: `$ trunkline ${args.map((arg) => (arg.includes("*") ? `'${arg}'` : arg)).join(" ")}`,
    typed: true,
  });
  const shown = stdout
    .trimEnd()
    .replaceAll(home, "~")
    .replaceAll(everything, "server-everything")
    .replaceAll(`${root}test/servers/`, "");
  for (const text of shown.split("\n"))
    lines.push({ text: text.length > COLUMNS ? `${text.slice(0, COLUMNS - 1)}…` : text, typed: false });
  lines.push({ text: "", typed: false });
}
lines.pop();
rmSync(home, { recursive: true, force: true });

const width = Math.ceil(COLUMNS * CHARACTER_WIDTH) + 40;
const height = lines.length * LINE_HEIGHT + 60;
const rows = lines.map(({ text, typed }, index) => {
  const colour = typed ? "#e6edf3" : text.startsWith("✓") ? "#7ee787" : text.startsWith("✗") ? "#ff7b72" : "#9da7b1";
  return `  <text x="20" y="${52 + index * LINE_HEIGHT}" fill="${colour}"${typed ? ' font-weight="bold"' : ""}>${escapeXml(text)}</text>`;
});
writeFileSync(
  join(root, "docs", "terminal.svg"),
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" xml:space="preserve">
  <title>trunkline doctor, tools and call in a terminal</title>
  <rect width="100%" height="100%" rx="8" fill="#0d1117"/>
  <circle cx="20" cy="18" r="5" fill="#ff5f57"/><circle cx="38" cy="18" r="5" fill="#febc2e"/><circle cx="56" cy="18" r="5" fill="#28c840"/>
${rows.join("\n")}
</svg>
`,
);

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

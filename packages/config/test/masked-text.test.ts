import { describe, expect, it } from "vitest";
import { maskedText } from "../src/masked-text.js";

const json = (text: string, tables: readonly (readonly string[])[] = [["mcpServers"]]) =>
  maskedText(text, { format: "json", tables });
const toml = (text: string) => maskedText(text, { format: "toml", tables: [["mcp_servers"]] });

describe("maskedText", () => {
  it("shows the entries of servers as they are written, without their secrets", () => {
    const text = `{
  "mcpServers": {
    "docs": {
      "command": "npx", "args": ["-y", "docs-mcp", "--api-key", "hunter2hunter2"],
      "env": { "TOKEN": "s3cret-value", "N": 5 }, "timeout": 10,
      "url": "https://ada:pass-word-1@docs.example/mcp"
    }
  }
}`;
    expect(json(text)).toBe(`{
  "mcpServers": {
    "docs": {
      "command": "npx", "args": ["-y", "docs-mcp", "--api-key", "hunter2hunter2"],
      "env": { "TOKEN": "<redacted: 12 characters>", "N": "<redacted: 1 character>" }, "timeout": 10,
      "url": "https://<redacted: 15 characters>@docs.example/mcp"
    }
  }
}`);
  });

  it("shows a command in full, even if a variable repeats it or it looks like a secret", () => {
    const text =
      '{"mcpServers":{"a":{"command":"npx","args":["-y","sk-abcdefghijklmnop","--token=./x.sh"],"cwd":"ghp_abcdefghijklmnopqrst","env":{"K":"npx","L":"-y"}}}}';
    const shown = json(text);
    expect(shown).toContain(text.slice(0, text.indexOf('"env"')));
    expect(shown).toContain('"env":{"K":"<redacted: 3 characters>","L":"<redacted: 2 characters>"}');
  });

  it("omits all values outside the entries, and every comment", () => {
    const text =
      '{ // my password is hunter2\n  "theme": "dark", "pin": 1234, "on": true, /* a\n b */ "x": ["y"],\n  "mcpServers": {} }';
    expect(json(text)).toBe(
      '{ // …\n  "theme": "…", "pin": "…", "on": true, /* … */\n "x": ["…"],\n  "mcpServers": {} }',
    );
  });

  it("finds tables below any key", () => {
    const text = '{"projects":{"/p":{"mcpServers":{"a":{"command":"x"}},"history":["secret"]}}}';
    expect(json(text, [["projects", "*", "mcpServers"]])).toBe(
      '{"projects":{"/p":{"mcpServers":{"a":{"command":"x"}},"history":["…"]}}}',
    );
  });

  it("treats unusual values in an entry as secrets", () => {
    const text =
      '{"mcpServers":{"a":{"apiKey":"k1","list":[["deep"],{"x":"y"}],"command":{"path":"p","env":{"K":"v"}}}}}';
    expect(json(text)).toBe(
      '{"mcpServers":{"a":{"apiKey":"<redacted: 2 characters>","list":[["<redacted: 4 characters>"],{"x":"<redacted: 1 character>"}],"command":{"path":"p","env":{"K":"<redacted: 1 character>"}}}}}',
    );
  });

  it("keeps every line of TOML in its place", () => {
    const text = [
      'model = "o3" # mine',
      'notes = """',
      "my key = 'x'",
      '[mcp_servers.fake]"""',
      "[mcp_servers.docs]",
      'command = "npx"',
      "args = [",
      '  "-y", # quiet',
      "  '--token', \"abc-def-123\",",
      "]",
      'env = { "A.B" = "s3cret", C.D = 2 }',
      "startup_timeout_sec = 20",
      '[mcp_servers."my docs".http_headers]',
      'Authorization = "Bearer 0123456789"',
      "[profiles.a]",
      "since = 2020-01-01",
    ];
    expect(toml(text.join("\r\n")).split("\r\n")).toEqual([
      'model = "…" # …',
      'notes = "…"',
      "",
      "",
      "[mcp_servers.docs]",
      'command = "npx"',
      "args = [",
      '  "-y", # …',
      "  '--token', \"abc-def-123\",",
      "]",
      'env = { "A.B" = "<redacted: 6 characters>", C.D = "<redacted: 1 character>" }',
      "startup_timeout_sec = 20",
      '[mcp_servers."my docs".http_headers]',
      'Authorization = "<redacted: 17 characters>"',
      "[profiles.a]",
      'since = "…"',
    ]);
  });

  it("hides secrets in inline tables of TOML by the names of their keys", () => {
    const text = [
      "[mcp_servers]",
      'old = { enabled = false, bearer_token = "tok-1", "api-key" = \'k-1\', command = "x", args = ["--token", "t-1"] }',
      'new = { env = { A = "e-1" }, list = [{ a = "l-1" }, ["l-2"]], empty = {}, last.password = "p-1", timeout = 5 }',
      "[mcp_servers.more]",
      'auth = { header = "h-1" }',
      'command = "y"',
    ];
    expect(toml(text.join("\n")).split("\n")).toEqual([
      "[mcp_servers]",
      'old = { enabled = false, bearer_token = "<redacted: 5 characters>", "api-key" = "<redacted: 3 characters>", command = "x", args = ["--token", "t-1"] }',
      'new = { env = { A = "<redacted: 3 characters>" }, list = [{ a = "<redacted: 3 characters>" }, ["<redacted: 3 characters>"]], empty = {}, last.password = "<redacted: 3 characters>", timeout = 5 }',
      "[mcp_servers.more]",
      'auth = { header = "<redacted: 3 characters>" }',
      'command = "y"',
    ]);
  });

  it("hides numbers, truth values and lists under the name of a secret", () => {
    const text =
      '{"mcpServers":{"a":{"password":12345678,"token":true,"tokens":["k-1",2],"args":["--password",12345678,3]}}}';
    expect(json(text)).toBe(
      '{"mcpServers":{"a":{"password":"<redacted: 8 characters>","token":"<redacted: 4 characters>","tokens":["<redacted: 3 characters>","<redacted: 1 character>"],"args":["--password",12345678,3]}}}',
    );
    expect(toml("[mcp_servers.a]\npassword = 12345678\nargs = ['--pin', 5]")).toBe(
      "[mcp_servers.a]\npassword = \"<redacted: 8 characters>\"\nargs = ['--pin', 5]",
    );
  });

  it("drops the byte order mark", () => {
    expect(json('\uFEFF{"a":1}')).toBe('{"a":"…"}');
  });
});

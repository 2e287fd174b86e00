import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { growthOf, MAX_GROWTH } from "../../../test/support/growth.js";
import { redactedArgs, redactedUrl, secretsInArgs, secretsInUrl } from "../src/index.js";

describe("secrets in a URL", () => {
  it.each([
    ["https://ann:hunter2@api.example.com/mcp", "https://<redacted>@api.example.com/mcp", ["hunter2"]],
    [
      "https://ghp_0123456789abcdefghij@api.example.com",
      "https://<redacted>@api.example.com",
      ["ghp_0123456789abcdefghij"],
    ],
    ["https://api.example.com/mcp?api_key=abc-def", "https://api.example.com/mcp?api_key=<redacted>", ["abc-def"]],
    ["https://api.example.com/mcp?k=abc&x=true", "https://api.example.com/mcp?k=<redacted>&x=true", []],
    ["https://api.example.com/mcp?read_only=true&n=12", "https://api.example.com/mcp?read_only=true&n=12", []],
    ["https://api.example.com/mcp?pin=1", "https://api.example.com/mcp?pin=1", []],
    ["https://api.example.com/mcp?pass=1", "https://api.example.com/mcp?pass=<redacted>", ["1"]],
    ["https://x.example/s/Zk39aQ1LmX82pQw7/sse", "https://x.example/s/<redacted>/sse", ["Zk39aQ1LmX82pQw7"]],
    [
      "https://x.example/u/3b241101-e2bb-4255-8caf-4136c566a962/sse",
      "https://x.example/u/<redacted>/sse",
      ["3b241101-e2bb-4255-8caf-4136c566a962"],
    ],
    ["https://x.example/mcp#token=abcdef", "https://x.example/mcp#token=<redacted>", ["abcdef"]],
    ["https://x.example/token/abc12345/mcp", "https://x.example/token/<redacted>/mcp", ["abc12345"]],
    ["https://x.example/mcp;key=abcdef", "https://x.example/mcp;key=<redacted>", ["abcdef"]],
    ["https://x.example/mcp?key=a%2Fb%2Fcde", "https://x.example/mcp?key=<redacted>", ["a%2Fb%2Fcde", "a/b/cde"]],
    ["postgres://ann:p/w#1@db.example/main", "postgres://<redacted>@db.example/main", ["p/w#1"]],
    ["https:\\\\ann:hunter2@x.example\\mcp", "https:\\\\<redacted>@x.example\\mcp", ["hunter2"]],
    ["https://x.example/mcp?key=${KEY}", "https://x.example/mcp?key=${KEY}", []],
    ["https://${USER}:${PASS}@${HOST:-x}/mcp", "https://${USER}:${PASS}@${HOST:-x}/mcp", []],
    ["https://x.example/?key=${KEY:-hunter2}", "https://x.example/?key=${KEY:-<redacted>}", ["hunter2"]],
  ])("%s is shown as %s", (url, shown, secrets) => {
    expect(redactedUrl(url)).toBe(shown);
    expect(secretsInUrl(url)).toEqual(secrets);
  });

  it.each([
    "https://mcp.linear.app/sse",
    "https://api.githubcopilot.com/mcp/x/pull_requests/readonly",
    "https://example.com:8443/api/v2025-06-18/model-context-protocol/streamable-http",
    "http://[::1]:3000/mcp",
    "http://127.0.0.1:7411/mcp",
    "https://packages.example.com/@modelcontextprotocol/server-everything",
    "https://mcp.example.com/organizations/my-organisation-name/projects/main",
    "https://mcp-server-production-eu-west-1.internal.example.com/mcp",
  ])("%s has none", (url) => {
    expect(redactedUrl(url)).toBe(url);
    expect(secretsInUrl(url)).toEqual([]);
  });
});

describe("secrets in arguments", () => {
  const hash = (text: string) => createHash("sha256").update(text).digest("hex");

  /** Arguments with a secret, and the secret. */
  const SECRET: [args: string[], secret: string][] = [
    [["--api-key=xyz123"], "xyz123"],
    [["--api-key", "xyz123"], "xyz123"],
    [["--token", "hunter2"], "hunter2"],
    [["--accessToken", "hunter2"], "hunter2"],
    [["-token", "hunter2"], "hunter2"],
    [["--password", "correct horse battery staple"], "correct horse battery staple"],
    [["--auth", "ann:hunter2"], "hunter2"],
    [["-u", "ann:hunter2"], "hunter2"],
    [["-e", "GITHUB_PERSONAL_ACCESS_TOKEN=abcdef"], "abcdef"],
    [["-e", "PGPASSWORD=hunter2&more"], "hunter2&more"],
    [["--env=API_KEY=abcdef"], "abcdef"],
    [["-H", "Authorization: Bearer abcdef"], "abcdef"],
    [["--header", "Authorization:Bearer abcdef"], "abcdef"],
    [["--header", "X-Workspace: abcdef"], "abcdef"],
    [["--header=X-Api-Key: abcdef"], "abcdef"],
    [["Authorization: Basic YW5uOmh1bnRlcjI="], "YW5uOmh1bnRlcjI="],
    [["ghp_16C7e42F292c6912E7710c838347Ae178B4a"], "ghp_16C7e42F292c6912E7710c838347Ae178B4a"],
    [["github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ"], "github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ"],
    [["sk-ant-api03-abcdefghijkl"], "sk-ant-api03-abcdefghijkl"],
    [["sk-proj-AAAAbbbbCCCCdddd"], "sk-proj-AAAAbbbbCCCCdddd"],
    [["xoxb-123456789012-abcdefABCDEF"], "xoxb-123456789012-abcdefABCDEF"],
    [["AKIAIOSFODNN7EXAMPLE"], "AKIAIOSFODNN7EXAMPLE"],
    [["AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"], "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"],
    [["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"], "eyJhbGciOiJIUzI1NiJ9"],
    [["123456789:AAF0abcdefghijklmnopqrstuvwxyz12345"], "AAF0abcdefghijklmnopqrstuvwxyz12345"],
    [["postgres://ann:hunter2@db.example/main"], "hunter2"],
    [["--dsn=mysql://ann:hunter2@tcp(db:3306)/x"], "hunter2"],
    [["DATABASE_URL=postgres://ann:hunter2@db/main"], "hunter2"],
    [["Server=db.example;User Id=ann;Password=hunter2;"], "hunter2"],
    [["host=db user=ann password=hunter2 dbname=x"], "hunter2"],
    [["--config", '{"apiKey":"hunter2","debug":true}'], "hunter2"],
    [["--config", '{\\"apiKey\\":\\"hunter2\\"}'], "hunter2"],
    [["--config", '{"braveApiKey": "a,b;c"}'], "a,b;c"],
    [["jdbc:postgresql://db/main?user=ann&password=hunter2"], "hunter2"],
    [["https://mcp.example.com/sse?key=hunter2"], "hunter2"],
    [["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"], "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
    [["9f86d081884c7d659a2feaa0c55ad015"], "9f86d081884c7d659a2feaa0c55ad015"],
    [["--key=Zk39aQ1LmX82pQw7"], "Zk39aQ1LmX82pQw7"],
    [["--client-id", "x", "--client-secret", "y z"], "y z"],
    [["sh", "-c", "API_TOKEN=hunter2 npx -y some-server"], "hunter2"],
    [["${TOKEN:-ghp_16C7e42F292c6912E7710c838347Ae178B4a}"], "ghp_16C7e42F292c6912E7710c838347Ae178B4a"],
  ];

  it.each(SECRET)("%j hides %j", (args, secret) => {
    expect(redactedArgs(args).join(" ")).not.toContain(secret);
    expect(secretsInArgs(args).some((found) => found.includes(secret))).toBe(true);
  });

  /** Arguments of real entries that must stay readable. */
  const PLAIN: string[][] = [
    ["-y", "@modelcontextprotocol/server-filesystem@2025.7.29", "/Users/ann/Documents/My Projects"],
    ["-y", "mcp-remote@0.1.29", "https://mcp.linear.app/sse", "--transport", "http-only"],
    ["--directory", "/home/ann/code/model-context-protocol-servers/src/git", "run", "mcp-server-git"],
    ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server:v0.5.0"],
    ["run", "--mount", "type=bind,src=${workspaceFolder},dst=/workspace", "mcp/filesystem", "/workspace"],
    ["--from", "git+https://github.com/oraios/serena@7f1c6f4a1b2c3d4e5f60718293a4b5c6d7e8f901", "serena"],
    ["mcp/fetch@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    ["--project", "3b241101-e2bb-4255-8caf-4136c566a962"],
    ["--commit", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"],
    ["github:modelcontextprotocol/servers#9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"],
    ["--max-tokens", "4000", "--max-tokens=4000"],
    ["--auth", "oauth", "--key", "./certs/server.pem", "--private-key=/etc/ssl/key.pem"],
    ["--token-file", "/run/secrets/github", "--api-key-env", "GITHUB_KEY"],
    ["--header", "Accept: application/json"],
    ["--header", "Authorization: Bearer ${GITHUB_TOKEN}"],
    ["--header", "Authorization:${AUTH_HEADER}"],
    ["-u", "1000:1000", "-p", "8080:80"],
    ["-m", "mcp_server_time", "--local-timezone=America/Argentina/Buenos_Aires"],
    ["--enable-experimental-features-for-everyone", "--skipLibraryCheckForDeclarations"],
    ["/nix/store/9f86d081884c7d659a2feaa0c55ad015-node-22.4.1/bin/node"],
    ["./node_modules/.pnpm/@scope+package@1.0.0_abc123def456abc123/dist/index.js"],
    ["C:\\Users\\ann\\AppData\\Roaming\\npm\\node_modules\\server\\dist\\index.js"],
    ["github.com/org/tool@v0.0.0-20240101120000-abcdef123456"],
    ["--toolsets", "repos,issues,pull_requests,code_security,dependabot"],
    ["--primary-key", "id", "--sort-keys", "name"],
    ["mongodb://localhost:27017/db", "redis://127.0.0.1:6379/0", "file:///home/ann/a.db"],
  ];

  it.each(PLAIN.map((args) => [args]))("%j stays as it is", (args) => {
    expect(redactedArgs(args)).toEqual(args);
    expect(secretsInArgs(args)).toEqual([]);
  });

  it("finds nearly every random string of 24 characters or more", () => {
    const alphabets = ["base64", "base64url", "hex"] as const;
    const samples = alphabets.flatMap((encoding) =>
      Array.from({ length: 300 }, (_, n) => Buffer.from(hash(`${encoding}${n}`), "hex").toString(encoding)).map(
        (text, n) => text.slice(0, Math.max(24, 24 + (n % 20))),
      ),
    );
    const found = samples.filter((text) => secretsInArgs([text]).length > 0).length;
    expect(found / samples.length).toBeGreaterThan(0.97);
  });

  it.each(["a=", "token:", "https://a", '"key":', "x@", "a-", "A1", "${"])(
    "takes time in proportion to the length of an argument of %s",
    async (unit) => {
      const argument = (size: number) => unit.repeat(size / unit.length);
      const url = (size: number) => `https://x/${argument(size)}`;
      expect(await growthOf(argument, (text) => redactedArgs([text]), { to: 200_000 })).toBeLessThan(MAX_GROWTH);
      expect(await growthOf(url, redactedUrl, { to: 200_000 })).toBeLessThan(MAX_GROWTH);
    },
  );
});

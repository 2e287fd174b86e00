import { expect, it } from "vitest";
import { adviceOnRelativeWords } from "../src/relative-words.js";

const adviceFor = (line: string) => {
  const [command, ...args] = line.split(" ");
  return adviceOnRelativeWords({ command, args }, "/nowhere");
};

it.each([
  [
    "npx -y @modelcontextprotocol/server-filesystem .",
    '"args": ["-y","@modelcontextprotocol/server-filesystem","${workspaceFolder}"]',
  ],
  ["uvx mcp-server-git --repository ./sub", '"args": ["mcp-server-git","--repository","${workspaceFolder}/sub"]'],
  ["uvx mcp-server-git --repository=..", '"args": ["mcp-server-git","--repository=${workspaceFolder}/.."]'],
  [
    "docker run -v .:/data mcp/filesystem /data",
    '"args": ["run","-v","${workspaceFolder}:/data","mcp/filesystem","/data"]',
  ],
  ["docker run --mount type=bind,src=./x,dst=/x mcp/fs", "type=bind,src=${workspaceFolder}/x,dst=/x"],
  ["node dist/server.js", '"args": ["/full/path/to/dist/server.js"]'],
  ["python3 -u src/server.py --verbose", '"args": ["-u","/full/path/to/src/server.py","--verbose"]'],
  ["uv run server.py", '"args": ["run","/full/path/to/server.py"]'],
  ["./bin/server --stdio", '"command": "/full/path/to/bin/server"'],
])("advises on %s", (line, entry) => {
  expect(adviceFor(line)).toContain(entry);
});

it.each([
  "npx -y @modelcontextprotocol/server-filesystem ${workspaceFolder}",
  "npx -y @modelcontextprotocol/server-memory",
  "npx -y mcp-remote https://example.com/mcp/x.js",
  "docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server",
  "node /opt/server/index.js",
  "node ~/server/index.js",
  "node ${userHome}/server/index.js",
  "node -e require('./x.js')",
  "python3 -m mcp_server_time --local-timezone=Europe/Berlin",
  "uv --directory /opt/server run main.py",
  "npx -y some-server --version .5 --glob *.md",
])("has nothing to say about %s", (line) => {
  expect(adviceFor(line)).toBeUndefined();
});

import { isReservedName, isSensitiveInFolder, isSensitiveToRead, isSensitiveToWrite } from "@trunkline/core";
import { expect, test } from "vitest";

/** Goes down the path, as someone who walks a folder does. */
function isSensitiveOnTheWay(path: string): boolean {
  return path.split("/").some((name, at, parts) => isSensitiveInFolder(parts.slice(0, at).join("/"), name));
}

test.each([
  ".env",
  "app/.env.local",
  ".env.production",
  ".envrc",
  "deploy/prod.env",
  ".envs/.production/.django",
  "/home/ada/.ssh/config",
  "keys/id_rsa",
  "id_ed25519_work",
  "id_rsa.bak",
  "ssh_host_rsa_key",
  "certs/server.key",
  "server.PEM",
  "a.p12",
  "a.pfx",
  ".netrc",
  ".npmrc",
  ".pgpass",
  ".aws/credentials",
  ".gnupg/pubring.kbx",
  ".kube/config",
  ".docker/config.json",
  ".git-credentials",
  ".config/gcloud/access_tokens.db",
  ".mozilla/firefox/x.default/cookies.sqlite",
  "Library/Application Support/Google/Chrome/Default/Login Data",
  "Library/Keychains/login.keychain-db",
  ".bash_history",
  "infra/terraform.tfstate",
  "terraform.tfstate.backup",
  "terraform.tfstate.1700000000.backup",
  ".gemini/oauth_creds.json",
  ".config/containers/auth.json",
])("%s is sensitive to read", (path) => {
  expect(isSensitiveToRead(path)).toBe(true);
  expect(isSensitiveOnTheWay(path)).toBe(true);
  expect(isSensitiveToWrite(path)).toBe(true);
});

test.each([
  ".env.example",
  ".env.sample",
  ".env.local.template",
  "example.env",
  "src/env.ts",
  "internal/tfstate.go",
  "docs/tfstate.md",
  "vite-env.d.ts",
  "id_rsa.pub",
  "id_rsa_test.go",
  "src/keys.ts",
  "keyboard.ts",
  "extensions/firefox/manifest.json",
  "scripts/gcloud/deploy.sh",
  "docker/config.json",
  "package.json",
  "Makefile",
  "src/mcp.ts",
  ".gitignore",
  ".editorconfig",
  ".github/ISSUE_TEMPLATE/bug.md",
  "README.md",
])("%s is ordinary", (path) => {
  expect(isSensitiveToRead(path)).toBe(false);
  expect(isSensitiveOnTheWay(path)).toBe(false);
  expect(isSensitiveToWrite(path)).toBe(false);
});

test.each([
  ".mcp.json",
  "mcp.json",
  ".vscode/tasks.json",
  ".cursor/mcp.json",
  ".claude/settings.json",
  ".codex/config.toml",
  ".gemini/settings.json",
  ".windsurf/mcp_config.json",
  ".idea/runConfigurations/a.xml",
  ".zed/tasks.json",
  ".husky/pre-commit",
  ".githooks/pre-commit",
  ".bashrc",
  ".zshenv",
  ".zprofile",
  ".bash_profile",
  ".zshrc.local",
  ".profile",
  ".github/workflows/ci.yml",
  ".gitlab-ci.yml",
  ".circleci/config.yml",
  "Jenkinsfile",
  "CLAUDE.md",
  "packages/a/AGENTS.md",
  ".yarnrc.yml",
  ".cargo/config.toml",
  ".devcontainer/devcontainer.json",
  "a.code-workspace",
  "prompts/PROMPT-review.md",
  ".config/systemd/user/a.service",
])("%s is sensitive to write", (path) => {
  expect(isSensitiveToWrite(path)).toBe(true);
  expect(isSensitiveToRead(path)).toBe(false);
});

test.each([".ENV", ".Ssh/id_rsa", ".env.", ".env ", ".env::$DATA", ".e\u200bnv", ".\u017fsh/config", "keys\\id_rsa"])(
  "the spelling %j is recognised",
  (path) => {
    expect(isSensitiveToRead(path)).toBe(true);
    expect(isSensitiveOnTheWay(path)).toBe(true);
  },
);

test("a name that only a case-insensitive file system treats as Git's is reserved", () => {
  expect(isReservedName(".G\u0131T")).toBe(true);
});

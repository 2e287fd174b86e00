import { describe, expect, it } from "vitest";
import { isTrunklineError, messageOf, systemCodeOf, TrunklineError, toTrunklineError } from "../src/index.js";

describe("TrunklineError", () => {
  it("carries code, cause, hint and data", () => {
    const cause = new Error("below");
    const error = new TrunklineError("NOT_FOUND", "no such thing", {
      cause,
      hint: "look elsewhere",
      data: { name: "x" },
    });
    expect(error).toMatchObject({
      code: "NOT_FOUND",
      message: "no such thing",
      hint: "look elsewhere",
      cause,
      data: { name: "x" },
    });
  });

  it("is retryable by default only for transient failures", () => {
    expect(new TrunklineError("TIMEOUT", "").retryable).toBe(true);
    expect(new TrunklineError("CONNECTION_FAILED", "").retryable).toBe(true);
    expect(new TrunklineError("USAGE", "").retryable).toBe(false);
    expect(new TrunklineError("UPSTREAM", "", { retryable: true }).retryable).toBe(true);
  });

  it("omits the cause from its JSON", () => {
    const error = new TrunklineError("IO", "disk full", { cause: new Error("secret path"), hint: "free some space" });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: "IO",
      message: "disk full",
      hint: "free some space",
      retryable: false,
    });
  });

  it("is distinguished by code", () => {
    const error: unknown = new TrunklineError("CLOSED", "gone");
    expect(isTrunklineError(error)).toBe(true);
    expect(isTrunklineError(error, "CLOSED")).toBe(true);
    expect(isTrunklineError(error, "TIMEOUT")).toBe(false);
    expect(isTrunklineError(new Error("gone"))).toBe(false);
  });
});

describe("toTrunklineError", () => {
  it("returns a TrunklineError unchanged and wraps anything else as its cause", () => {
    const ours = new TrunklineError("USAGE", "no");
    expect(toTrunklineError(ours)).toBe(ours);
    const other = new RangeError("too far");
    expect(toTrunklineError(other, "IO")).toMatchObject({ code: "IO", message: "too far", cause: other });
    expect(toTrunklineError("text")).toMatchObject({ code: "INTERNAL", message: "text" });
  });
});

describe("a failed file operation", () => {
  const failed = (code: string, syscall: string, path?: string) =>
    Object.assign(new Error(`${code}: no, ${syscall} '${path}'`), { code, syscall, path });

  it.each([
    ["EACCES", "open", "/a/b", "Cannot open /a/b: permission denied."],
    ["EPERM", "unlink", "/a/b", "Cannot remove /a/b: permission denied."],
    ["ENOENT", "stat", "/a/b", "Cannot open /a/b: it does not exist."],
    ["EISDIR", "read", undefined, "Cannot read a file: it is a folder."],
    ["ENOTDIR", "scandir", "/a/b", "Cannot open /a/b: a part of its path is not a folder."],
    ["ENOSPC", "write", "/a/b", "Cannot write /a/b: the disk is full."],
    ["EROFS", "mkdir", "/a/b", "Cannot create /a/b: the file system is read-only."],
    ["EACCES", "open", "/a/.trunkline-0f3a.part", "Cannot write to /a: permission denied."],
  ])("is described in plain words: %s, %s %s", (code, syscall, path, message) => {
    expect(toTrunklineError(failed(code, syscall, path))).toMatchObject({ code: "IO", message });
    expect(toTrunklineError(failed(code, syscall, path), "USAGE")).toMatchObject({ code: "USAGE", message });
  });

  it("is not confused with a failed connection, a failed program or an unknown error", () => {
    for (const error of [
      failed("ECONNREFUSED", "connect"),
      failed("EACCES", "spawn npx", "npx"),
      failed("EODD", "open"),
    ])
      expect(toTrunklineError(error)).toMatchObject({ code: "INTERNAL", message: error.message });
  });
});

describe("messageOf and systemCodeOf", () => {
  it("uses the class name for an error without a message", () => {
    expect(messageOf(new TypeError())).toBe("TypeError");
  });

  it("finds the system code in the cause chain and inside an AggregateError", () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    expect(systemCodeOf(new Error("fetch failed", { cause: refused }))).toBe("ECONNREFUSED");
    expect(systemCodeOf(new AggregateError([refused]))).toBe("ECONNREFUSED");
    expect(systemCodeOf(new TrunklineError("IO", "x", { cause: refused }))).toBe("ECONNREFUSED");
    const wrapped = Object.assign(new Error("no era", { cause: new TypeError("fetch failed", { cause: refused }) }), {
      code: "ERA",
    });
    expect(systemCodeOf(wrapped)).toBe("ECONNREFUSED");
    expect(systemCodeOf(new Error("plain"))).toBeUndefined();
  });
});

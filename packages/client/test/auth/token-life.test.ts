import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isEnding, isOver, lifeOf, secretsOf } from "../../src/auth/token-life.js";

const token = { access_token: "a", token_type: "Bearer" };

describe("token lifetime", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** After how many seconds a token with this lifetime is refreshed, and after how many it is unusable. */
  function endOf(seconds: number): { endingS: number; overS: number } {
    const life = lifeOf({ ...token, expires_in: seconds });
    const secondsUntil = (isSo: (grant: typeof life) => boolean) => {
      vi.setSystemTime(life.savedAtMs);
      let passed = 0;
      while (!isSo(life)) vi.setSystemTime(life.savedAtMs + ++passed * 1000);
      return passed;
    };
    return { endingS: secondsUntil(isEnding), overS: secondsUntil(isOver) };
  }

  it("ends a minute early, or when a tenth is left if that is later", () => {
    expect(endOf(3_600)).toEqual({ endingS: 3_540, overS: 3_600 });
    expect(endOf(600)).toEqual({ endingS: 540, overS: 600 });
    expect(endOf(100)).toEqual({ endingS: 90, overS: 100 });
  });

  it("is unlimited if the issuer gives no expiry", () => {
    const life = lifeOf(token);
    vi.setSystemTime(Date.now() + 1_000_000_000);
    expect([life.expiresAtMs, isEnding(life), isOver(life)]).toEqual([undefined, false, false]);
  });
});

describe("token secrets", () => {
  it("include everything another party could use", () => {
    expect(secretsOf(token)).toEqual(["a"]);
    expect(secretsOf({ ...token, refresh_token: "r", id_token: "i", scope: "s" })).toEqual(["a", "r", "i"]);
  });
});

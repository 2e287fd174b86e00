import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isEnding, isOver, lifeOf, secretsOf } from "../../src/auth/token-life.js";

const token = { access_token: "a", token_type: "Bearer" };

describe("the life of a token", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** After how many seconds a token that is good for so long is renewed, and after how many it is of no use. */
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

  it("ends for us a minute early, or when a tenth of it is left where that is later", () => {
    expect(endOf(3_600)).toEqual({ endingS: 3_540, overS: 3_600 });
    expect(endOf(600)).toEqual({ endingS: 540, overS: 600 });
    expect(endOf(100)).toEqual({ endingS: 90, overS: 100 });
  });

  it("has no end where the issuer does not say when", () => {
    const life = lifeOf(token);
    vi.setSystemTime(Date.now() + 1_000_000_000);
    expect([life.expiresAtMs, isEnding(life), isOver(life)]).toEqual([undefined, false, false]);
  });
});

describe("the secrets of tokens", () => {
  it("are all that somebody else could use", () => {
    expect(secretsOf(token)).toEqual(["a"]);
    expect(secretsOf({ ...token, refresh_token: "r", id_token: "i", scope: "s" })).toEqual(["a", "r", "i"]);
  });
});

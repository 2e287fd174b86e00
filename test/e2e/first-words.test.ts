// Words that people try as commands before they have read the help.
import { describe, expect, it } from "vitest";
import { INSTEAD, OUTLINE } from "../../packages/cli/src/commands/outline.js";
import { Place } from "./command.js";

describe("a word that is no command", () => {
  it.each([
    ["search", "trunkline store search"],
    ["login", "trunkline auth login"],
    ["status", "trunkline doctor"],
    ["list", "trunkline tools"],
  ])("leads to what it means: %s", async (word, command) => {
    using place = new Place();
    const { code, stderr } = await place.run([word, "something"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`unknown command '${word}'\n  Use \`trunkline`);
    expect(stderr).toContain(`${command}\`.`);
    expect(stderr).not.toContain("Did you mean");
  });

  it("leads to the nearest command if it is a typing mistake", async () => {
    using place = new Place();
    expect((await place.run(["serevrs"])).stderr).toContain("Did you mean servers?");
    expect((await place.run(["constructor"])).stderr).toContain("See `trunkline --help`.");
  });

  it("is not the name of a command, and leads to existing ones", async () => {
    using place = new Place();
    for (const [word, commands] of Object.entries(INSTEAD)) {
      expect(OUTLINE).not.toHaveProperty(word);
      for (const [, args = ""] of commands.matchAll(/trunkline ([a-z -]+)/g)) {
        const words = args.trim().split(" ");
        if (words[0]?.startsWith("-")) continue;
        const { code, stdout } = await place.run([...words, "--help"]);
        expect(`${words.join(" ")} ${code} ${stdout.split("\n", 1)[0]}`).toMatch(/ 0 Usage: trunkline /);
      }
    }
  });
});

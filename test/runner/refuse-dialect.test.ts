import { describe, expect, test } from "bun:test";
import { findDialect } from "./refuse-dialect.ts";

/** As it would stand in a file; put together here, since the sentence is an example of what is refused. */
const words = (...parts: string[]) => parts.join("");

describe("findDialect()", () => {
  test.each([
    words("// No", "body asks."),
    words("// Who", "ever asks waits."),
    words("const x = 1; // So ", "many at once."),
    words("/** The ", "same for devices. */"),
    words("/**\n * The ", "same for devices. */"),
    words("/** O", "f all devices. */"),
    words("// Left", " out, it is UTC."),
    words("// The answer to ", "who asked."),
    words("  const fou", "nd = 1;"),
  ])("refuses %j with its line and a better wording", (text) => {
    expect(findDialect("src/a.ts", `\n${text}`)).toEqual([expect.stringMatching(/^src\/a\.ts:2: ".+": .+/)]);
  });

  test("names the words as they stand, on one line", () => {
    const [fault] = findDialect("docs/a.md", words("/**\n * O", "f all"));
    expect(fault).toStartWith('docs/a.md:1: "/** * Of": ');
  });

  test("lets plain sentences, nouns and names of other languages pass", () => {
    const text = "/** How many records have this timestamp, if there are any. */ const match = found.first;";
    expect(findDialect("src/a.ts", text)).toEqual([]);
    expect(findDialect("docs/a.css", words("const ma", "de = 1"))).toEqual([]);
  });
});

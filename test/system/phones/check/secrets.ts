import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where any of the keys stands in a text, by the text's name: nowhere, if all is right. */
export function findKeys(keys: ReadonlySet<string>, texts: ReadonlyMap<string, string>): string[] {
  return [...texts].flatMap(([name, text]) =>
    [...keys].filter((key) => text.includes(key)).map((key) => `${name} holds the key …${key.slice(-4)}`),
  );
}

/** The files of a data directory, each byte as a character; the first key lies there on purpose. */
export function readDirectoryTexts(dataDir: string): ReadonlyMap<string, string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== "first-key",
  );
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(dataDir.length + 1), readFileSync(path, "latin1")];
    }),
  );
}

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

/*
 * `npm run check` calls it: names each sentence in the source and the documents that is written in the project's old
 * private dialect, and each value with a participle for a name, with the better wording.
 */

interface Pattern {
  readonly pattern: RegExp;
  readonly better: string;
}

/** Applied to source and documents. A doc comment may begin on the line after its opening. */
const SENTENCES: readonly Pattern[] = [
  { pattern: /\bnobody\b/gi, better: 'name the actor: "no client", "no caller", "not used"' },
  { pattern: /\bwhoever\b/gi, better: 'name the actor: "the caller that", "a client that"' },
  { pattern: /\bso (many|much)\b/gi, better: 'give the number or its name: "64 at once", "`limit` records"' },
  { pattern: /\/\*\*\s*(\n\s*\*\s*)?The same\b/gi, better: 'say what it does: "Like `keyed`, but for ..."' },
  { pattern: /\/\*\*\s*(\n\s*\*\s*)?Of\b/gi, better: 'begin with the subject: "How many records ..."' },
  { pattern: /\bleft out,/gi, better: '"Defaults to ..."' },
  {
    pattern: /\b(to|from|for|of) who (has|is|asks|asked|sent|reports|may|wants)\b/gi,
    better: 'name the actor: "the client that"',
  },
];

/** Applied to source: a value is a noun. */
const NAMES: Pattern = {
  pattern: /\b(?:const|let) (told|asked|found|kept|made|given|shown|taken|held|sent)\b/g,
  better: "a value is a noun: what is it? (answer, request, match, record, copy)",
};

/** What is wrong in a file, a line each: place, words, and what to write instead. */
export function findDialect(path: string, text: string): string[] {
  const patterns = path.endsWith(".ts") ? [...SENTENCES, NAMES] : SENTENCES;
  return patterns.flatMap(({ pattern, better }) =>
    [...text.matchAll(pattern)].map((match) => {
      const line = text.slice(0, match.index).split("\n").length;
      return `${path}:${line}: "${match[0].replaceAll(/\s+/g, " ")}": ${better}`;
    }),
  );
}

function filesOf(root: string): string[] {
  const places = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "src"];
  return places
    .flatMap((place) =>
      statSync(join(root, place)).isDirectory()
        ? readdirSync(join(root, place), { recursive: true, encoding: "utf8" }).map(
            (path) => `${place}/${path}`,
          )
        : [place],
    )
    .filter((path) => /\.(ts|mjs|js|css|html|md)$/.test(path))
    .sort();
}

if (import.meta.main) {
  const root = resolve(import.meta.dir, "../..");
  const faults = filesOf(root).flatMap((path) => findDialect(path, readFileSync(join(root, path), "utf8")));
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

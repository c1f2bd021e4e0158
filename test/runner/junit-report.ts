import { SaxesParser } from "saxes";

/** What came of one test file. */
export interface FileResult {
  readonly path: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
}

/**
 * Reads what `bun test --reporter=junit` writes: a `testsuite` for each file, in which those of `describe` lie. A file
 * that could not be loaded is not in it.
 */
export function readJunitReport(xml: string): FileResult[] {
  const results: FileResult[] = [];
  const parser = new SaxesParser();
  let depth = 0;
  parser.on("opentag", ({ name, attributes }) => {
    if (name !== "testsuite" || depth++ > 0) return;
    const count = (attribute: string) => Number(attributes[attribute]);
    const [failed, skipped] = [count("failures"), count("skipped")];
    const passed = count("tests") - failed - skipped;
    results.push({ path: attributes.file!, passed, failed, skipped, seconds: count("time") });
  });
  parser.on("closetag", ({ name }) => {
    if (name === "testsuite") depth--;
  });
  parser.write(xml).close();
  return results;
}

import { errorCodeTable } from "../../../src/http/errors.ts";

const BEGIN = "<!-- Written from the table of error codes by npm run format; a test compares. -->\n";
const END = "<!-- End of the error codes. -->\n";

/** The page with the table of all error codes. */
export function withErrorTable(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest!.split(END);
  return `${before}${BEGIN}\n${errorCodeTable()}\n\n${END}${after}`;
}

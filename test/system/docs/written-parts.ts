import { errorCodeTable } from "../../../src/http/errors.ts";
import { commandReference } from "./command-reference.ts";
import { endpointTable } from "./endpoint-table.ts";

/** A page of which a part is written from the program, and what belongs there. */
interface WrittenPart {
  readonly page: string;
  /** What the part is written from, for readers of the page's source. */
  readonly source: string;
  text(): string;
}

export const WRITTEN_PARTS: readonly WrittenPart[] = [
  { page: "docs/asking.md", source: "the list of endpoints", text: endpointTable },
  { page: "docs/command-line.md", source: "the commands of src/cli", text: commandReference },
  { page: "docs/errors.md", source: "the table of src/http/errors.ts", text: errorCodeTable },
];

const END = "<!-- End of what is written. -->\n";

/** The page's content with its written part as it has to be now. */
export function withWrittenPart(content: string, { source, text }: WrittenPart): string {
  const begin = `<!-- Written from ${source} by npm run format; a test compares. -->\n`;
  const [before, rest] = content.split(begin);
  const [, after] = rest!.split(END);
  return `${before}${begin}\n${text()}\n\n${END}${after}`;
}

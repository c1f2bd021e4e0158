import { type Benches, flagOf } from "./command-line.ts";

/* The text of `--help` for all benches and for one. */

const WIDTH = 110;

const COMMON = `  --smoke         small sizes: shows that a bench works, not how fast anything is
  --save FILE     where the results go; a folder holds a file for each bench. By default a full run writes
                  bench/results/NAME.json, or bench/results/local/NAME.json if its sizes are of its own;
                  a smoke run writes nothing
  --against FILE  compares the run with an earlier results file, or with those of a folder, by a test that knows
                  how much runs differ by chance
  --profile       runs each bench once more under Bun's CPU profiler, with the servers it starts, and prints the
                  functions that took the most time
  --help          this text; after a name, the sizes of that bench`;

export function helpText(benches: Benches): string {
  const width = Math.max(...[...benches.keys()].map((name) => name.length)) + 4;
  const list = [...benches].map(([name, { question }]) => {
    const [first, ...others] = wrapped(question, WIDTH - width);
    return [`  ${name}`.padEnd(width) + first, ...others.map((line) => " ".repeat(width) + line)].join("\n");
  });
  return `Usage: npm run bench -- [NAME ...] [flags]

Runs the benches named, or all. Each asks a question, times the obvious way beside ours in the same run,
checks that the answers are right, and prints medians and ratios.

${list.join("\n")}

${COMMON}
`;
}

/** The help of one bench: its question, sizes, seeds and choices. */
export function benchHelpText(name: string, benches: Benches): string {
  const { question, sizes, choices = {} } = benches.get(name)!;
  const flags = Object.entries(sizes).map(([size, { help, smoke, full }]) => ({
    flag: `--${flagOf(size)} N`,
    text: `${help} (${full}; smoke ${smoke})`,
  }));
  for (const [choice, { help }] of Object.entries(choices)) {
    flags.push({ flag: `--${flagOf(choice)} NAME`, text: help });
  }
  const width = Math.max(...flags.map(({ flag }) => flag.length));
  const lists = Object.entries(choices).map(
    ([choice, { values }]) =>
      `\n${flagOf(choice)}:\n${wrapped(values.join(", "), WIDTH - 2)
        .map((line) => `  ${line}\n`)
        .join("")}`,
  );
  return `Usage: npm run bench -- ${name} [flags]

${wrapped(question, WIDTH).join("\n")}

${flags.map(({ flag, text }) => `  ${flag.padEnd(width)}  ${text}`).join("\n")}
${lists.join("")}
${COMMON}
`;
}

/** Wraps a text at words. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

import { type FlagKinds, parseFlags } from "../../../../src/cli/arguments/flags.ts";
import { fail, ok, type Result } from "../../../../src/lib/result.ts";

/** What the words after `npm run fuzz --` ask for. */
export type FuzzCommand =
  | { readonly kind: "help" }
  | {
      readonly kind: "fuzz";
      readonly seconds: number;
      readonly seed: number;
      /** Null is all of them. */
      readonly target: string | null;
      readonly keep: boolean;
    };

const FLAGS = {
  seconds: "value",
  seed: "value",
  target: "value",
  keep: "switch",
  help: "switch",
} as const satisfies FlagKinds;

const SECONDS_DEFAULT = 60;

export function helpText(targets: readonly string[]): string {
  return `Usage: npm run fuzz -- [flags]

Attacks everything that decodes bytes with changed inputs, those first that made code run which had not run before,
and checks what must hold for each. An input that fails is made small and written to test/system/fuzz/found/, where the
tests run it ever after. Exit code 1 where any failed.

  --seconds N      in all, shared by the targets (${SECONDS_DEFAULT})
  --target NAME    one alone: ${targets.join(", ")}
  --seed N         of the changes (the time); what is kept also depends on how far the time reaches
  --keep           writes the inputs that reach all of the code to test/system/fuzz/corpus/
  --help           this text
`;
}

/** The error is one line. */
export function parseFuzzCommand(
  args: readonly string[],
  targets: readonly string[],
  nowMs: number,
): Result<FuzzCommand, string> {
  const parsed = parseFlags(args, FLAGS);
  if (!parsed.ok) return fail(`${parsed.error}. See --help.`);
  const flags = parsed.value;
  if (flags.has("help")) return ok({ kind: "help" });
  if (flags.positionals.length > 0) return fail(`Unexpected argument "${flags.positionals[0]}". See --help.`);
  const seconds = countOf(flags.value("seconds"), SECONDS_DEFAULT);
  const seed = countOf(flags.value("seed"), nowMs % 1_000_000);
  if (seconds === null || seed === null) return fail("--seconds and --seed take a whole number above 0.");
  const target = flags.value("target");
  if (target !== null && !targets.includes(target)) return fail(`--target is one of ${targets.join(", ")}.`);
  return ok({ kind: "fuzz", seconds, seed, target, keep: flags.has("keep") });
}

function countOf(text: string | null, otherwise: number): number | null {
  if (text === null) return otherwise;
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

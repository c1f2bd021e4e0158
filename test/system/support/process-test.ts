import { onTestFinished, test as plainTest } from "bun:test";
import { type Runtime, whatServersSaid } from "../../support/server-process.ts";

interface ProcessTest {
  (title: string, run: () => unknown): void;
  /** Only if the condition holds; left out, and counted so, if not. */
  if(condition: boolean): (title: string, run: () => unknown) => void;
  readonly each: typeof plainTest.each;
}

/** `test` of Bun's runner for real processes: a test that fails or hangs tells what their servers have said. */
export const test: ProcessTest = Object.assign(
  (title: string, run: () => unknown) => plainTest(title, telling(run)),
  {
    if: (condition: boolean) => (title: string, run: () => unknown) =>
      plainTest.if(condition)(title, telling(run)),
    each: eachRow as typeof plainTest.each,
  },
);

/** `test` on Bun, and nothing on Deno: for what is alike on both, and therefore tried once. */
export function testOnBunAlone({ name }: Runtime): (title: string, run: () => unknown) => void {
  return name === "Bun" ? test : () => undefined;
}

function eachRow(rows: readonly unknown[]) {
  const each: (title: string, run: (...args: unknown[]) => Promise<void>) => void = plainTest.each([...rows]);
  return (title: string, run: (...args: unknown[]) => unknown) => each(title, telling(run));
}

function telling(run: (...args: unknown[]) => unknown): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    let isOver = false;
    onTestFinished(() => {
      if (!isOver) console.error(`The test hangs. ${whatServersSaid()}`);
    });
    try {
      await run(...args);
    } catch (error) {
      if (error instanceof Error) error.message += `\n\n${whatServersSaid()}`;
      throw error;
    } finally {
      isOver = true;
    }
  };
}

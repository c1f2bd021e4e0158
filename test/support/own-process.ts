/*
 * Memory is measured in a separate process: the test process holds remains of earlier tests, and Linux counts the
 * parent's memory at the fork into the peak of the child.
 */

/** Runs a script and parses the JSON that it prints. */
export async function runInOwnProcess<Answer>(script: string, ...args: string[]): Promise<Answer> {
  const child = Bun.spawn([process.execPath, script, ...args], { stdout: "pipe", stderr: "inherit" });
  const [out, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (exitCode !== 0) throw new Error(`${script} ended with ${exitCode}.`);
  return JSON.parse(out);
}

/** Measures the growth of resident memory since the first sample. */
export class MemoryMeter {
  readonly #beginBytes = process.memoryUsage.rss();
  #mostBytes = this.#beginBytes;

  look(): void {
    this.#mostBytes = Math.max(this.#mostBytes, process.memoryUsage.rss());
  }

  get grownBytes(): number {
    this.look();
    return this.#mostBytes - this.#beginBytes;
  }
}

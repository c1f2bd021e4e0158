/*
 * What takes memory is measured in a process of its own, by itself: a process of tests holds mostly what earlier tests
 * have left behind, and Linux counts the parent's memory at the fork into the peak of its child.
 */

/** Runs a script to its end, and parses the JSON that it prints. */
export async function runInOwnProcess<Answer>(script: string, ...args: string[]): Promise<Answer> {
  const child = Bun.spawn([process.execPath, script, ...args], { stdout: "pipe", stderr: "inherit" });
  const [out, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (exitCode !== 0) throw new Error(`${script} ended with ${exitCode}.`);
  return JSON.parse(out);
}

/** How much more was resident at any look than at the first. */
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

/** One question and the code that answers it. `isSmoke` asks for small sizes that only show that it works. */
export interface Bench {
  readonly question: string;
  run(isSmoke: boolean): Promise<void>;
}

/** A size for each kind of run. */
export function size(isSmoke: boolean, smoke: number, full: number): number {
  return isSmoke ? smoke : full;
}

import { Session } from "node:inspector";

/**
 * Which blocks of the source have run, as V8 counts them: the same that code coverage reports are made of. It asks
 * nothing of the code and slows it down by little, but reading the counts takes a millisecond.
 */
export interface Coverage {
  /** What has run since the last call. */
  take(): Promise<Taken>;
  /** Takes note of it. Returns how many blocks of it had never run before. */
  add(taken: Taken): number;
  /** The same without taking note. */
  countNew(taken: Taken): number;
  /** From now on nothing has run yet. */
  clear(): void;
}

/**
 * By function that ran, its blocks that did not: V8 names those, and leaves out what runs as often as what is around
 * it.
 */
export type Taken = ReadonlyMap<string, ReadonlySet<string>>;

interface FunctionCoverage {
  readonly ranges: readonly {
    readonly startOffset: number;
    readonly endOffset: number;
    readonly count: number;
  }[];
}

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly FunctionCoverage[];
}

/** Counts the scripts whose URL matches. */
export async function startCoverage(scripts: RegExp): Promise<Coverage> {
  const session = new Session();
  session.connect();
  await post(session, "Profiler.enable");
  await post(session, "Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const missing = new Map<string, ReadonlySet<string>>();

  function countNewIn(name: string, unrun: ReadonlySet<string>): number {
    const before = missing.get(name);
    return before === undefined ? 1 : before.size - before.intersection(unrun).size;
  }

  function countNew(taken: Taken): number {
    let count = 0;
    for (const [name, unrun] of taken) count += countNewIn(name, unrun);
    return count;
  }

  return {
    countNew,
    async take() {
      const { result } = (await post(session, "Profiler.takePreciseCoverage")) as {
        result: ScriptCoverage[];
      };
      const ours = result.filter(({ url }) => scripts.test(url));
      return new Map(ours.flatMap(({ url, functions }) => functions.flatMap((each) => unrunOf(url, each))));
    },
    add(taken) {
      const count = countNew(taken);
      for (const [name, unrun] of taken) missing.set(name, missing.get(name)?.intersection(unrun) ?? unrun);
      return count;
    },
    clear: () => missing.clear(),
  };
}

function unrunOf(url: string, { ranges }: FunctionCoverage): [name: string, unrun: Set<string>][] {
  const [whole] = ranges;
  if (whole === undefined || whole.count === 0) return [];
  const unrun = ranges.filter(({ count }) => count === 0);
  return [[`${url} ${placeOf(whole)}`, new Set(unrun.map(placeOf))]];
}

function placeOf({ startOffset, endOffset }: FunctionCoverage["ranges"][number]): string {
  return `${startOffset}-${endOffset}`;
}

function post(session: Session, method: string, parameters: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error: Error | null, result: unknown) =>
      error === null ? resolve(result) : reject(error),
    );
  });
}

import { cpus, release, totalmem, type } from "node:os";

/** The machine of a run. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly runtime: string;
}

export function readMachine(): Machine {
  return {
    processor: cpus()[0]?.model ?? "unknown processor",
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    runtime: `Bun ${Bun.version}`,
  };
}

export function machineText({ processor, cores, memoryBytes, system, runtime }: Machine): string {
  return `${processor}, ${cores} cores, ${Math.round(memoryBytes / 2 ** 30)} GiB, ${system}, ${runtime}`;
}

import { type AppendFile, FileError, type Files } from "../../../src/runtime/files.ts";

export type FileOperation = keyof Files | keyof AppendFile;

/** The failure of the next operation of a kind. */
export interface OperationFault {
  readonly operation: FileOperation;
  readonly code: string;
  /** Bytes that a failed append writes nevertheless. */
  readonly writtenBytes: number;
}

/** Runs the operations of a simulated disk one at a time, while it has power. */
export class SimulatedOperations {
  readonly #before: (operation: FileOperation, path: string) => void | Promise<void>;
  readonly #faults: OperationFault[] = [];
  #hasPower = true;

  constructor(before: (operation: FileOperation, path: string) => void | Promise<void>) {
    this.#before = before;
  }

  get hasPower(): boolean {
    return this.#hasPower;
  }

  /** Makes every later operation fail. */
  cutPower(): void {
    this.#hasPower = false;
  }

  failNext(fault: OperationFault): void {
    this.#faults.push(fault);
  }

  /** Runs the operation at one instant with its fault, if any; the power may fail before or after it. */
  async perform<Result>(
    operation: FileOperation,
    path: string,
    act: (fault: OperationFault | null) => Result,
  ): Promise<Result> {
    if (!this.#hasPower) throw new FileError(operation, path, "EIO");
    await this.#before(operation, path);
    if (!this.#hasPower) throw new FileError(operation, path, "EIO");
    const index = this.#faults.findIndex((fault) => fault.operation === operation);
    return act(index < 0 ? null : this.#faults.splice(index, 1)[0]!);
  }

  performOrFail<Result>(operation: FileOperation, path: string, act: () => Result): Promise<Result> {
    return this.perform(operation, path, (fault) => {
      if (fault !== null) throw new FileError(operation, path, fault.code);
      return act();
    });
  }
}

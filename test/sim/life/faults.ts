import type { FileOperation } from "../../support/simulated-files.ts";
import type { Fault } from "./disk.ts";
import type { Draws } from "./draws.ts";

/** Operations that may be refused by themselves; a refusal of the others comes with a full disk or no descriptors. */
const REFUSED: readonly FileOperation[] = [
  "append",
  "sync",
  "openAppend",
  "rename",
  "replace",
  "remove",
  "syncDirectory",
  "truncate",
  "close",
  "read",
  "size",
  "exists",
  "list",
  "makeDirectory",
];

/** Something that will go wrong within so many operations. */
export function drawFault(draws: Draws, withinOperations: number): Fault {
  const afterOperations = draws.between(1, withinOperations);
  switch (draws.weighted({ power: 5, kill: 2, refusal: 5, full: 2, descriptors: 1 })) {
    case "power":
      return {
        kind: "power",
        afterOperations,
        survivors: draws.chance(0.7) ? () => draws.next() : undefined,
      };
    case "kill":
      return { kind: "kill", afterOperations };
    case "refusal":
      return {
        kind: "refusal",
        afterOperations,
        operation: draws.pick(REFUSED),
        code: draws.pick(["EIO", "EIO", "ENOSPC"]),
        writtenBytes: draws.pick([0, draws.between(1, 600)]),
      };
    case "full":
      return {
        kind: "full",
        afterOperations,
        roomBytes: draws.between(0, 800),
        operations: draws.between(1, 60),
      };
    case "descriptors":
      return { kind: "descriptors", afterOperations, operations: draws.between(1, 12) };
  }
}

/**
 * Whether a start may end in an error because of it: the machine would not let it look at its own folders. Damage,
 * files that can't be read and full disks must not keep it from starting.
 */
export function mayRefuseStart(fault: Fault): boolean {
  if (fault.kind === "descriptors") return true;
  return fault.kind === "refusal" && ["list", "exists", "makeDirectory"].includes(fault.operation);
}

/** Whether files may have seemed unreadable because of it. */
export function hindersReading(fault: Fault): boolean {
  return (
    fault.kind === "descriptors" ||
    (fault.kind === "refusal" && ["read", "size", "list", "exists"].includes(fault.operation))
  );
}

export function faultText(fault: Fault): string {
  switch (fault.kind) {
    case "power":
      return `the power will fail in ${fault.afterOperations} operations${fault.survivors === undefined ? "" : ", and some of what is not synced survives"}`;
    case "kill":
      return `the process will be killed in ${fault.afterOperations} operations`;
    case "refusal":
      return `after ${fault.afterOperations} operations the next ${fault.operation} will fail with ${fault.code}${fault.operation === "append" ? `, ${fault.writtenBytes} bytes written` : ""}`;
    case "full":
      return `in ${fault.afterOperations} operations the disk will have room for ${fault.roomBytes} bytes, for ${fault.operations} operations`;
    case "descriptors":
      return `in ${fault.afterOperations} operations no file can be opened, for ${fault.operations} operations`;
  }
}

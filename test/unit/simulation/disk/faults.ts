import type { Draws } from "../run/draws.ts";
import type { Fault, RunOperation } from "./disk.ts";

/** Operations that may be refused by themselves; a refusal of the others comes with a full disk or no descriptors. */
const REFUSED: readonly RunOperation[] = [
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
  "link",
  "removeAll",
  "statement",
];

/** Where a refusal strikes: anywhere, or where a service has most to lose. */
const PLACES = {
  anywhere: { operations: REFUSED, path: /^/ },
  /** The swap, whose rename may be there though its sync failed. */
  manifest: {
    operations: ["syncDirectory", "syncDirectory", "syncDirectory", "rename", "sync", "replace"],
    path: /^\/data\/archive(\/manifest\.json.*)?$/,
  },
  /** What a seal removes once its manifest is swapped. */
  leftovers: {
    operations: ["remove", "remove", "list", "rename", "syncDirectory"],
    path: /^\/data\/(archive\/(day=|expired|latest)|wal)/,
  },
  /** What is done before a swap, while what an earlier one left is tidied up already. */
  scratch: {
    operations: ["openAppend", "append", "read", "statement"],
    path: /^$|^\/data\/archive\/scratch/,
  },
  log: { operations: REFUSED, path: /^\/data\/wal/ },
  backup: { operations: REFUSED, path: /^\/backup/ },
} as const satisfies Record<string, { operations: readonly RunOperation[]; path: RegExp }>;

/** What goes on meanwhile. */
export type Occasion = "any" | "seal" | "backup";

const PLACE_WEIGHTS = {
  any: { anywhere: 5, manifest: 1, leftovers: 1, scratch: 1, log: 2, backup: 0 },
  seal: { anywhere: 2, manifest: 6, leftovers: 4, scratch: 3, log: 1, backup: 0 },
  backup: { anywhere: 2, manifest: 1, leftovers: 1, scratch: 0, log: 1, backup: 5 },
};
const FAULT_WEIGHTS = {
  any: { power: 5, kill: 2, refusal: 6, full: 2, descriptors: 1 },
  seal: { power: 2, kill: 1, refusal: 10, full: 1, descriptors: 1 },
  backup: { power: 5, kill: 2, refusal: 6, full: 2, descriptors: 1 },
};

/** What opens something may find that no more can be open; what writes, that there is no room. */
const OPENING_CODES = ["EIO", "EIO", "EMFILE", "ENFILE"];
const WRITING_CODES = ["EIO", "EIO", "ENOSPC"];
const CODES: Partial<Record<RunOperation, readonly string[]>> = {
  read: OPENING_CODES,
  list: OPENING_CODES,
  openAppend: [...OPENING_CODES, "ENOSPC"],
  syncDirectory: OPENING_CODES,
  append: WRITING_CODES,
  sync: WRITING_CODES,
  replace: WRITING_CODES,
  rename: WRITING_CODES,
  makeDirectory: [...WRITING_CODES, "EMFILE"],
  link: ["EXDEV", "EXDEV", "EIO"],
};

/** Something that will go wrong within so many operations. */
export function drawFault(draws: Draws, withinOperations: number, occasion: Occasion): Fault {
  const afterOperations = draws.between(1, withinOperations);
  switch (draws.weighted(FAULT_WEIGHTS[occasion])) {
    case "power":
      return {
        kind: "power",
        afterOperations,
        survivors: draws.chance(0.7) ? () => draws.next() : undefined,
      };
    case "kill":
      return { kind: "kill", afterOperations };
    case "refusal":
      return drawRefusal(draws, afterOperations, occasion);
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

function drawRefusal(draws: Draws, withinOperations: number, occasion: Occasion): Fault {
  const place = draws.weighted(PLACE_WEIGHTS[occasion]);
  const { operations, path } = PLACES[place];
  const afterOperations = place === "manifest" ? 1 : withinOperations; // There is one swap a seal: whichever comes.
  const operation = draws.pick<RunOperation>(operations);
  const code = draws.pick(CODES[operation] ?? ["EIO"]);
  const writtenBytes = draws.pick([0, draws.between(1, 600)]);
  const times = draws.pick([1, 2, 2, 4]);
  return { kind: "refusal", afterOperations, operation, path, code, writtenBytes, times };
}

/**
 * Whether a start may end in an error because of it: the machine would not let it look at its own folders, or open
 * anything. Damage, files that can't be read and full disks must not keep it from starting.
 */
export function mayRefuseStart(fault: Fault): boolean {
  if (fault.kind !== "refusal") return fault.kind === "descriptors";
  return isPassing(fault) || ["list", "exists", "makeDirectory"].includes(fault.operation);
}

/** Whether files may have seemed unreadable because of it. */
export function hindersReading(fault: Fault): boolean {
  return (
    fault.kind === "descriptors" ||
    (fault.kind === "refusal" && ["read", "size", "list", "exists", "statement"].includes(fault.operation))
  );
}

/** Whether it tells nothing of the disk, only that too much is open right now. */
export function isPassing(fault: Fault): boolean {
  return fault.kind === "descriptors" || (fault.kind === "refusal" && /^E[MN]FILE$/.test(fault.code));
}

export function faultText(fault: Fault): string {
  switch (fault.kind) {
    case "power":
      return `the power will fail in ${fault.afterOperations} operations${fault.survivors === undefined ? "" : ", and some of what is not synced survives"}`;
    case "kill":
      return `the process will be killed in ${fault.afterOperations} operations`;
    case "refusal": {
      const written = fault.operation === "append" ? `, ${fault.writtenBytes} bytes written` : "";
      const which = fault.times === 1 ? "" : `${fault.times} times `;
      return `after ${fault.afterOperations} operations ${which}${fault.operation} at ${fault.path.source} will fail with ${fault.code}${written}`;
    }
    case "full":
      return `in ${fault.afterOperations} operations the disk will have room for ${fault.roomBytes} bytes, for ${fault.operations} operations`;
    case "descriptors":
      return `in ${fault.afterOperations} operations no file can be opened, for ${fault.operations} operations`;
  }
}

import type { WatchedRecord } from "../../geofences/watch.ts";
import type { AskForRecords } from "./decide-device.ts";
import type { DecidedDevice, DeviceDecision } from "./device-decision.ts";
import type { MarkedDevice } from "./device-states.ts";
import type { DecisionStart, DeviceState } from "./snapshots.ts";

/** A device that is being decided. */
export interface Task extends MarkedDevice {
  readonly taken: Taken;
  /** The entry of the log that made the mark; null if none of those in the log did. */
  readonly sequence: number | null;
  readonly before: DeviceState | null;
  readonly start: DecisionStart;
  readonly neededMs: number;
  readonly decision: DeviceDecision;
  readonly asking: AskForRecords<number>;
  /** Null before its end. */
  decided: DecidedDevice | null;
  /** Up to when all records are decided; `Infinity` if none is left. */
  untilMs: number;
  /** Stored events that are compared, at most about this many. */
  readonly storedCount: number;
  /** The answer to what it asked for last. */
  records: readonly WatchedRecord[];
}

/** A mark that was taken. */
export type Taken = MarkedDevice & Pick<Task, "sequence">;

/** Events that are compared in a turn, decided and stored; a device may have more at one record. */
export const EVENTS_AT_ONCE = 256;

/** Divides tasks, in their order, so that each transaction has few events. */
export function inTransactions(tasks: readonly Task[]): Task[][] {
  const groups: Task[][] = [];
  let events = Infinity;
  for (const task of tasks) {
    const more = task.decision.eventCount + task.storedCount;
    if (events + more > EVENTS_AT_ONCE) {
      groups.push([]);
      events = 0;
    }
    events += more;
    groups.at(-1)!.push(task);
  }
  return groups;
}

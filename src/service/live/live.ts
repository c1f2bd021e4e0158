import type { View } from "../../auth/view.ts";
import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import type { NewestRecords } from "../../model/newest-records.ts";

/** The live stream: visible changes of an app, sent to its viewers. */

type Bytes = Uint8Array<ArrayBuffer>;

/** What a viewer subscribes to: devices that match all of this, or did before they changed. */
export interface ViewerQuery {
  /** The entry of the log up to which the viewer knows everything; null to start with the next one. */
  readonly sinceSequence: number | null;
  readonly box: BoundingBox | null;
  readonly deviceIds: ReadonlySet<string> | null;
  readonly userId: UserId | null;
  /** The view of a share link; null for everything. */
  readonly view: View | null;
}

/**
 * Some records of an event, in order. Device numbers are valid until the next report, so they are written immediately.
 */
export interface Changes {
  readonly records: NewestRecords;
  /** By device number; may be empty in the last part. */
  readonly devices: Uint32Array;
  /** Devices, by number, of which nothing is shown any more; they come with the first part. */
  readonly removed: Uint32Array;
  /** A large event is sent in parts, so that no part takes long to write or much memory. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** The event's id: after the event the viewer knows everything up to this entry of the log. */
  readonly sequence: number;
}

/** Writes the bytes of an event, or of a part of one, synchronously. */
export interface EventWriter {
  changes(changes: Changes): Bytes;
  /** The viewer must take a snapshot, because what it missed is unknown. The stream continues after `sequence`. */
  reset(sequence: number): Bytes;
}

/** A subscriber. One that reads nothing costs only its slot. */
export interface Viewer {
  /** Resolves with the next event or part of one; null once the viewer is closed. One call at a time. */
  next(): Promise<Bytes | null>;
  /** The entry of the log up to which the viewer knows everything, once all bytes so far have arrived. */
  readonly sentSequence: number;
  /** Whether an event has begun but not ended. */
  readonly isWithinEvent: boolean;
  /** Whether `next` was called and has nothing yet. */
  readonly isWaiting: boolean;
  close(): void;
}

export interface Live {
  /** Viewers without a filter share the bytes of the same writer. */
  open(appId: AppId, query: ViewerQuery, writer: EventWriter): Viewer;
  readonly viewerCount: number;
  /** Checks whether devices have expired, which causes no change; called every few seconds while there are viewers. */
  look(): void;
  /** Closes all viewers; one that is opened later is closed too. */
  close(): void;
}

import type { View } from "../../auth/view.ts";
import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import type { NewestRecords } from "../../model/newest-records.ts";

/** The live stream: what became visible of an app, told to those who look at it. */

type Bytes = Uint8Array<ArrayBuffer>;

/** What a viewer wants to hear of: devices for which all of this holds, or did before they changed. */
export interface ViewerQuery {
  /** The entry of the log up to which the viewer knows all; null for who wants to know what comes from here on. */
  readonly sinceSequence: number | null;
  readonly box: BoundingBox | null;
  readonly deviceIds: ReadonlySet<string> | null;
  readonly userId: UserId | null;
  /** What a share link shows; null for everything. */
  readonly view: View | null;
}

/** Some records of an event, in order; to be written at once, since device numbers are good until the next report. */
export interface Changes {
  readonly records: NewestRecords;
  /** By number; may be empty in the last part. */
  readonly devices: Uint32Array;
  /** An event of many records is told in parts, so that none takes long to write or much memory. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** The event's id: up to this entry of the log the viewer knows all once the event is over. */
  readonly sequence: number;
}

/** Makes the bytes of an event, or of a part of one, within the call. */
export interface EventWriter {
  changes(changes: Changes): Bytes;
  /** The viewer must take a snapshot: what it missed is not known any more. It is told what comes after `sequence`. */
  reset(sequence: number): Bytes;
}

/** Who listens. One that takes nothing costs nothing but its place. */
export interface Viewer {
  /**
   * The next event or part of one, as soon as there is something to tell; null once the viewer is closed. One call at
   * a time.
   */
  next(): Promise<Bytes | null>;
  /** Up to this entry of the log it has been told everything, once all that was handed out has arrived. */
  readonly toldSequence: number;
  /** Whether a part of an event was handed out and the rest was not. */
  readonly isWithinEvent: boolean;
  close(): void;
}

export interface Live {
  /** Viewers whose filters are null and whose writer is the same share what is written. */
  open(appId: AppId, query: ViewerQuery, writer: EventWriter): Viewer;
  readonly viewerCount: number;
  /** Sees whether devices went out of sight, which nothing tells; done every few seconds as long as anybody listens. */
  look(): void;
  /** Closes all viewers; who opens one later finds it closed. */
  close(): void;
}

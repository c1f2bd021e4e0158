import type { AppId } from "../../../../src/model/ids.ts";
import type { EventWriter, Live, Viewer, ViewerQuery } from "../../../../src/service/live/live.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A viewer that is told what a test says. */
export class ScriptedViewer implements Viewer {
  readonly appId: AppId;
  readonly query: ViewerQuery;
  readonly writer: EventWriter;
  sentSequence: number;
  isWithinEvent = false;
  isClosed = false;
  /** How often it was asked what comes next. */
  asked = 0;
  #asking: PromiseWithResolvers<Bytes | null> | null = null;
  /** The next bytes, whether the event continues after them, and the sequence up to which all is sent if it ends. */
  readonly #next: [Bytes, boolean, number | null][] = [];

  constructor(appId: AppId, query: ViewerQuery, writer: EventWriter) {
    this.appId = appId;
    this.query = query;
    this.writer = writer;
    this.sentSequence = query.sinceSequence ?? 7;
  }

  next(): Promise<Bytes | null> {
    this.asked++;
    this.#asking = Promise.withResolvers();
    const { promise } = this.#asking;
    if (this.isClosed) this.#asking.resolve(null);
    this.#hand();
    return promise;
  }

  tell(text: string, isWithinEvent = false, place: number | null = null): void {
    this.#next.push([new TextEncoder().encode(text), isWithinEvent, place]);
    this.#hand();
  }

  fail(error: unknown): void {
    this.#asking!.reject(error);
  }

  get isWaiting(): boolean {
    return this.#asking !== null;
  }

  close(): void {
    this.isClosed = true;
    this.#asking?.resolve(null);
  }

  #hand(): void {
    if (this.#asking === null || this.#next.length === 0) return;
    const [bytes, isWithinEvent, place] = this.#next.shift()!;
    this.isWithinEvent = isWithinEvent;
    if (place !== null && !isWithinEvent) this.sentSequence = place;
    this.#asking.resolve(bytes);
    this.#asking = null;
  }
}

export class ScriptedLive implements Live {
  readonly viewers: ScriptedViewer[] = [];
  isClosed = false;

  get viewerCount(): number {
    return this.viewers.filter(({ isClosed }) => !isClosed).length;
  }

  open(appId: AppId, query: ViewerQuery, writer: EventWriter): ScriptedViewer {
    const viewer = new ScriptedViewer(appId, query, writer);
    this.viewers.push(viewer);
    return viewer;
  }

  look(): void {}

  close(): void {
    this.isClosed = true;
    for (const viewer of this.viewers) viewer.close();
  }
}

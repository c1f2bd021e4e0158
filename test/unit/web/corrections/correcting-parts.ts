import { Correcting } from "../../../../src/web/corrections/correcting.ts";
import type { CorrectionRecord } from "../../../../src/web/corrections/correction-requests.ts";
import type { Place } from "../../../../src/web/geo/earth.ts";
import { type History, NO_ENDS } from "../../../../src/web/history/history.ts";
import type { Track } from "../../../../src/web/history/track.ts";
import type { DayMark, MoveMark } from "../../../../src/web/map/correction-layers.ts";
import type { HandleListener } from "../../../../src/web/map/map-markers.ts";
import type { SettingsValues } from "../../../../src/web/settings/settings.ts";
import { DAY, type LocalDay, type Span } from "../../../../src/web/time/local-day.ts";
import { turns } from "../../../support/turns.ts";
import { FakeServer } from "../device/fake-server.ts";
import { trackOf } from "../history/tracks.ts";

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly key: string | undefined;
  answer(body: unknown): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A server that also takes corrections, and answers each when the test says. */
export class CorrectingServer extends FakeServer {
  readonly posts: SentRequest[] = [];

  send<Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Body> {
    return new Promise((resolve, reject) => {
      const answer = async (answered: unknown) => {
        resolve(answered as Body);
        await turns();
      };
      const fail = async (error: Error) => {
        reject(error);
        await turns();
      };
      this.posts.push({ method, path, body, key: headers["idempotency-key"], answer, fail });
    });
  }

  async answerOutliers(...seconds: readonly number[]): Promise<void> {
    const outliers = seconds.map((second) => ({
      ...{ timestamp: second * 1000, latitude: 7, longitude: second },
      ...{ reason: "jump", speed_mps: 100 },
    }));
    this.last("/outliers").answer({ total: seconds.length, outliers });
    await turns();
  }

  async answerList(...ids: readonly string[]): Promise<void> {
    this.last("/corrections").answer({ corrections: ids.map((id) => correctionOf(id)) });
    await turns();
  }
}

export function correctionOf(id: string, change: Partial<CorrectionRecord> = {}): CorrectionRecord {
  return {
    ...{ id, action: "hide", device_id: "bus", records: 2, first: 20_000, last: 30_000 },
    ...{ created: 0, created_by: "key_1", ...change },
  };
}

interface HistoryChange {
  readonly deviceId?: string;
  readonly seconds?: readonly number[];
  readonly span?: Span;
  readonly track?: Track;
}

export function historyOf(change: HistoryChange = {}): History {
  const { deviceId = "bus", seconds = [10, 20, 30, 40], span = DAY, track = trackOf(seconds) } = change;
  return {
    ...{ deviceId, day: "2026-11-22" as LocalDay, zone: "UTC", span, isView: false },
    ...{ range: { startMs: 0, endMs: 1e6 }, reports: 3, isIncomplete: false, ends: NO_ENDS, stops: null },
    track,
  };
}

/** A map that remembers what it shows; the test moves the handle, and clicks. */
export class FakeMap {
  marks: readonly DayMark[] = [];
  move: MoveMark | null = null;
  flights: Place[] = [];
  focused = 0;
  camera = { zoom: 10, bounds: { west: -1, south: -1, east: 1, north: 1 } };
  click: ((at: Place) => void) | null = null;
  handle: HandleListener | null = null;

  setDayMarks(marks: readonly DayMark[]): void {
    this.marks = marks;
  }

  setMove(move: MoveMark | null): void {
    this.move = move;
  }

  onHandle(listener: HandleListener): void {
    this.handle = listener;
  }

  press(key: string, shiftKey = false): boolean {
    return this.handle!.press({ key, shiftKey });
  }

  drag(to: Place): void {
    this.handle!.drag(to);
    this.handle!.drop();
  }

  focusHandle(): void {
    this.focused++;
  }

  takeNextClick(handler: ((at: Place) => void) | null): void {
    this.click = handler;
  }

  /** A click takes the handler away. */
  clickAt(at: Place): void {
    const handler = this.click;
    this.click = null;
    handler?.(at);
  }

  flyTo(place: Place): void {
    this.flights.push(place);
  }

  marked(kind: DayMark["kind"]): readonly number[] {
    return this.marks.filter((mark) => mark.kind === kind).map(({ longitude }) => longitude);
  }
}

export class FakeSettings {
  values: Pick<SettingsValues, "accuracyMax"> = { accuracyMax: null };

  set(change: Pick<SettingsValues, "accuracyMax">): void {
    this.values = change;
  }
}

const DEVICES = ["bus", "bus 2", "tram"];

export function createCorrecting({ isEditor = true } = {}) {
  const server = new CorrectingServer();
  const map = new FakeMap();
  const settings = new FakeSettings();
  const moves: boolean[] = [];
  let reloads = 0;
  const corrections = new Correcting({
    ...{ api: server, map, settings },
    table: { ids: DEVICES, labels: DEVICES, size: DEVICES.length, labelOf: (id) => id },
    mayEdit: () => isEditor,
    onLook: () => undefined,
    onMove: (hasBegun) => moves.push(hasBegun),
    onCorrected: () => reloads++,
    changed: () => undefined,
  });
  return { server, map, settings, corrections, moves, reloads: () => reloads };
}

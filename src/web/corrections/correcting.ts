import type { Api } from "../api/api.ts";
import { type SearchedDevices, suggestedIds } from "../devices/name-search.ts";
import type { Place } from "../geo/earth.ts";
import { areOfSame, type History } from "../history/history.ts";
import type { DayMark } from "../map/correction-layers.ts";
import { positionTime } from "../time/format.ts";
import type { TimeRange } from "../time/local-day.ts";
import { ActiveCorrections } from "./active-corrections.ts";
import { HIDE, SHIFT } from "./change.ts";
import { Confirming } from "./confirming.ts";
import type { CorrectionRecord } from "./correction-requests.ts";
import { doneText, handleName, undoneText } from "./correction-texts.ts";
import { Moving, type MovingMap } from "./moving.ts";
import {
  extendedTo,
  placesOf,
  positionAt,
  positionsWithin,
  remaining,
  type Selection,
  selectionOf,
} from "./selection.ts";
import { type AccuracySetting, Suspects } from "./suspects.ts";

/* What the user has selected, and what happens to it. */

export interface CorrectingParts {
  readonly api: Pick<Api, "get" | "send" | "retries">;
  readonly map: CorrectingMap;
  readonly table: SearchedDevices & { labelOf(id: string): string };
  readonly settings: AccuracySetting;
  readonly mayEdit: () => boolean;
  /** The user looks at a position of this time. */
  readonly onLook: (ms: number) => void;
  /** The user has begun, or has ended, to move a position. */
  readonly onMove: (hasBegun: boolean) => void;
  /** Records of the past have changed: what shows them must load them again. */
  readonly onCorrected: () => void;
  readonly changed: () => void;
}

/** The used part of the map. */
export interface CorrectingMap extends MovingMap {
  setDayMarks(marks: readonly DayMark[]): void;
}

const MARKS_MAX = 1000;

/** What has just been done. */
export interface Notice {
  readonly text: string;
  /** The correction that the user may undo here; null after an undo. */
  readonly id: string | null;
}

/** Suspicious positions of the shown days, the user's selection, and what has been corrected of the device. */
export class Correcting {
  readonly #parts: CorrectingParts;
  /** What has been corrected of the device. */
  readonly active: ActiveCorrections;
  readonly suspects: Suspects;
  readonly confirming: Confirming;
  readonly moving: Moving;
  #history: History | null = null;
  #selection: Selection | null = null;
  #notice: Notice | null = null;

  constructor(parts: CorrectingParts) {
    this.#parts = parts;
    const { api, map, settings, mayEdit, onMove, onCorrected, changed } = parts;
    this.active = new ActiveCorrections({
      ...{ api, mayEdit, changed },
      onUndone: (correction) => {
        this.#selection = null; // It would hide the note.
        this.#done({ text: undoneText(correction), id: null });
      },
      onOthers: onCorrected,
    });
    this.suspects = new Suspects({ api, settings, changed: () => this.#redraw() });
    this.confirming = new Confirming({
      ...{ api, changed },
      onDone: (correction, selection) => this.#corrected(correction, selection),
    });
    this.moving = new Moving({
      ...{ api, map, changed },
      labelOf: (ms) => handleName(this.timeText(ms)),
      onBegin: onMove,
      onMoved: (correction, { timestampMs }) => this.#corrected(correction, selectionOf([timestampMs])),
    });
  }

  get mayEdit(): boolean {
    return this.#parts.mayEdit();
  }

  /** What the page calls a device. */
  labelOf(deviceId: string): string {
    return this.#parts.table.labelOf(deviceId);
  }

  /** The time of a position; with its day if several days are shown. */
  timeText(ms: number): string {
    return this.#history === null ? "" : positionTime(ms, this.#history.zone, this.#history.span);
  }

  get history(): History | null {
    return this.#history;
  }

  get selection(): Selection | null {
    return this.#selection;
  }

  /** From the first selected position to the last, for the plot. */
  get selectedRange(): TimeRange | null {
    return this.#selection?.range ?? null;
  }

  get notice(): Notice | null {
    return this.#notice;
  }

  /**
   * Works on this day of a device, or on several; null if none is shown. `isRefresh` is true if the history is of the
   * same days, and only new reports are the reason for it.
   */
  use(history: History | null, isRefresh = false): void {
    if (history === this.#history) {
      this.#offerMove(); // The track may have grown, so that the position has another neighbor.
      return;
    }
    const isSame = areOfSame(history, this.#history);
    if (history?.deviceId !== this.#history?.deviceId) this.#notice = null;
    this.#history = history;
    this.#selection =
      isSame && history !== null && this.#selection !== null
        ? remaining(this.#selection, history.track)
        : null;
    if (!isSame && this.confirming.confirmation !== null) this.confirming.cancel();
    this.active.use(history?.deviceId ?? null);
    this.suspects.use(history, { isSame, isRefresh });
    this.#draw();
  }

  selectWithin(range: TimeRange): void {
    this.#select(this.#history === null ? null : positionsWithin(this.#history.track, range));
  }

  selectAt(ms: number): void {
    this.#select(this.#history === null ? null : positionAt(this.#history.track, ms));
  }

  /** Selects a suspicious position, and shows where it is. */
  lookAt(timestamp: number, place: Place): void {
    this.#select(selectionOf([timestamp], { latitude: place.latitude, longitude: place.longitude }));
    this.#parts.map.flyTo(place);
    this.#parts.onLook(timestamp);
  }

  extendTo(ms: number): void {
    if (this.#history === null || this.#selection === null) return;
    this.#select(extendedTo(this.#selection, this.#history.track, ms));
  }

  /** Ends a move, or drops the selection, or the note of what was done. Returns whether there was one. */
  clear(): boolean {
    if (this.moving.cancel()) return true;
    const hadAny = this.#selection !== null || this.#notice !== null;
    this.#notice = null;
    this.#select(null);
    return hadAny;
  }

  /** Asks the user to confirm that the selected positions are hidden. */
  askToHide(): void {
    this.#ask(this.#selection);
  }

  /** Asks the user what else is wrong with the selected positions. */
  askForMore(): void {
    this.#ask(this.#selection, SHIFT);
  }

  /** Asks the user to confirm that all listed suspicious positions are hidden. */
  askToHideSuspects(): void {
    const timestampMs = this.suspects.found.outliers.map(({ timestamp }) => timestamp);
    if (timestampMs.length > 0) this.#ask(selectionOf(timestampMs));
  }

  /** Devices whose name or id contains the text, apart from this one. */
  suggestDevices(text: string): readonly string[] {
    return suggestedIds(this.#parts.table, text, [this.#history?.deviceId ?? ""]);
  }

  /** Undoes the last thing: where a position is being moved to, or what this page has corrected last. */
  undoLast(): boolean {
    return this.moving.reset() || this.active.undoLast();
  }

  /** Forgets everything at the end of a session. */
  close(): void {
    this.use(null);
    this.active.close();
    this.#notice = null;
  }

  #ask(selection: Selection | null, change = HIDE): void {
    if (!this.mayEdit || this.#history === null || selection === null) return;
    this.confirming.ask(this.#history.deviceId, selection, change);
  }

  #select(selection: Selection | null): void {
    if (selection !== null) this.#notice = null;
    this.#selection = selection;
    this.#redraw();
  }

  #corrected(correction: CorrectionRecord, selection: Selection): void {
    this.active.add(correction);
    if (correction.device_id === this.#history?.deviceId) {
      this.#selection = null;
      this.suspects.drop(selection);
    }
    this.#done({ text: doneText(correction, (id) => this.labelOf(id)), id: correction.id });
  }

  #done(notice: Notice): void {
    this.#notice = notice;
    this.#redraw();
    this.#parts.onCorrected();
  }

  #redraw(): void {
    this.#draw();
    this.#parts.changed();
  }

  #draw(): void {
    const [history, selection] = [this.#history, this.#selection];
    const suspects = this.suspects.found.outliers.map(({ latitude, longitude }) => {
      return { latitude, longitude, kind: "suspect" as const };
    });
    const places =
      history === null || selection === null ? [] : placesOf(selection, history.track, MARKS_MAX);
    const selected = places.map((place) => ({ ...place, kind: "selected" as const }));
    this.#parts.map.setDayMarks([...suspects, ...selected]);
    this.#offerMove();
  }

  #offerMove(): void {
    this.moving.offer(this.#history, this.mayEdit ? this.#selection : null);
  }
}

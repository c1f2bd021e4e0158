import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import { type Bounds, isInside } from "../geo/bounds.ts";
import type { Place } from "../geo/earth.ts";
import type { History } from "../history/history.ts";
import type { MoveMark } from "../map/correction-layers.ts";
import type { HandleListener } from "../map/map-markers.ts";
import { type CorrectionRecord, noteMembers, RequestKeys, sendCorrection } from "./correction-requests.ts";
import { isMoved, lineThrough, type Move, moveMembers, nudged } from "./move.ts";
import { placeOf, type Selection } from "./selection.ts";

/* From a selected position to a moved one: by dragging it, by keys, or by a click on the map. */

interface MovingParts {
  readonly api: Pick<Api, "send">;
  readonly map: MovingMap;
  /** The name of the handle. */
  readonly labelOf: (ms: number) => string;
  /** The user has begun, or has ended, to move a position. */
  readonly onBegin: (hasBegun: boolean) => void;
  readonly onMoved: (correction: CorrectionRecord, move: Move) => void;
  readonly changed: () => void;
}

/** The used part of the map. */
export interface MovingMap {
  /** Null while there is no map. */
  readonly camera: { readonly zoom: number; readonly bounds: Bounds } | null;
  setMove(mark: MoveMark | null): void;
  onHandle(listener: HandleListener): void;
  focusHandle(): void;
  takeNextClick(handler: ((at: Place) => void) | null): void;
  flyTo(place: Place): void;
}

/**
 * A selected position has a handle on the map. Once the user moves it, the page shows where it was and where it would
 * be.
 */
export class Moving {
  readonly #parts: MovingParts;
  readonly #keys = new RequestKeys();
  #history: History | null = null;
  #move: Move | null = null;
  #hasBegun = false;
  /** Whether the page has made room for the move. */
  #hasRoom = false;
  #isSending = false;
  #fault: string | null = null;
  /** Why the position is moved, for other users. */
  note = "";

  constructor(parts: MovingParts) {
    this.#parts = parts;
    parts.map.onHandle({
      drag: (to) => this.#moveTo(to),
      drop: () => this.#makeRoom(),
      press: (key) => this.#press(key),
    });
  }

  /** The position that can be moved; null if none is selected. */
  get move(): Move | null {
    return this.#move;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  get fault(): string | null {
    return this.#fault;
  }

  /** Offers to move the selected position, if it is a single one. A move of it that the user has begun goes on. */
  offer(history: History | null, selection: Selection | null): void {
    const place = history === null || selection === null ? null : placeOf(selection, history.track);
    const timestampMs = place === null ? null : selection!.timestampMs[0]!;
    const isSame = history?.deviceId === this.#history?.deviceId && timestampMs === this.#move?.timestampMs;
    this.#history = history;
    if (place === null || timestampMs === null) {
      if (this.#move !== null) this.#end(null);
    } else if (!isSame || !this.#hasBegun) this.#end({ timestampMs, from: place, to: place });
    else this.#draw(); // Its neighbors may have changed.
  }

  /** Begins by the button: moves the handle into sight, and gives it the focus. */
  begin(): void {
    if (this.#move === null) return;
    this.#start();
    this.#makeRoom();
    this.#bringIntoSight(this.#move.to);
    this.#parts.map.focusHandle();
    this.#parts.changed();
  }

  /** Ends a move, and puts the position back. Returns whether the user had begun one. */
  cancel(): boolean {
    if (this.#move === null || !this.#hasBegun || this.#isSending) return false;
    this.#end({ ...this.#move, to: this.#move.from });
    this.#parts.changed();
    return true;
  }

  /** Puts the position back without ending. Returns whether it was elsewhere. */
  reset(): boolean {
    if (this.#move === null || !this.#hasBegun || this.#isSending || !isMoved(this.#move)) return false;
    this.#moveTo(this.#move.from);
    return true;
  }

  async send(): Promise<void> {
    const [history, move] = [this.#history, this.#move];
    if (history === null || move === null || !isMoved(move) || this.#isSending) return;
    this.#isSending = true;
    this.#fault = null;
    this.#parts.changed();
    const { deviceId } = history;
    const body = {
      action: "move",
      device_id: deviceId,
      ...moveMembers(move),
      ...noteMembers(this.note),
    } as const;
    try {
      const correction = await sendCorrection(this.#parts.api, body, this.#keys.keyOf(body));
      this.#keys.forget();
      if (this.#move === move) this.#end(null);
      this.#parts.onMoved(correction, move);
    } catch (error) {
      if (this.#move === move) {
        this.#isSending = false;
        this.#fault = sentenceOf(error);
      }
    }
    this.#parts.changed();
  }

  #press(press: { readonly key: string; readonly shiftKey: boolean }): boolean {
    if (this.#move === null) return false;
    if (press.key === "Enter") {
      if (this.#hasBegun) void this.send();
      else this.begin();
      return true;
    }
    const { camera } = this.#parts.map;
    const to = camera === null ? null : nudged(this.#move.to, press, camera.zoom);
    if (to === null) return false;
    this.#moveTo(to);
    this.#makeRoom();
    this.#bringIntoSight(to);
    return true;
  }

  #start(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.note = "";
    this.#takeClick();
  }

  #moveTo(to: Place): void {
    if (this.#move === null || this.#isSending) return;
    this.#start();
    this.#move = { ...this.#move, to };
    this.#draw();
    this.#parts.changed();
  }

  /** Lets the page make room, but not during a drag, which a move of the map would disturb. */
  #makeRoom(): void {
    if (!this.#hasBegun || this.#hasRoom) return;
    this.#hasRoom = true;
    this.#parts.onBegin(true);
  }

  /** A click puts the position there, which is quicker over a long way. Then the handle has the focus for Enter. */
  #takeClick(): void {
    this.#parts.map.takeNextClick((at) => {
      if (!this.#hasBegun) return;
      this.#moveTo(at);
      this.#takeClick();
      this.#parts.map.focusHandle();
    });
  }

  #end(next: Move | null): void {
    const [hadBegun, hadRoom] = [this.#hasBegun, this.#hasRoom];
    this.#move = next;
    this.#hasBegun = false;
    this.#hasRoom = false;
    this.#isSending = false;
    this.#fault = null;
    this.#draw();
    if (hadBegun) this.#parts.map.takeNextClick(null);
    if (hadRoom) this.#parts.onBegin(false);
  }

  #bringIntoSight(place: Place): void {
    const { map } = this.#parts;
    if (map.camera !== null && !isInside(place, map.camera.bounds)) map.flyTo(place);
  }

  #draw(): void {
    const move = this.#move;
    const track = this.#history?.track;
    if (move === null || track === undefined) {
      this.#parts.map.setMove(null);
      return;
    }
    const line = isMoved(move) ? lineThrough(track, move) : [];
    this.#parts.map.setMove({ ...move, line, label: this.#parts.labelOf(move.timestampMs) });
  }
}

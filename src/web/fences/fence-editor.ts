import type { MapLibreMap } from "maplibre-gl";
import type { Api } from "../api/api.ts";
import { ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { LateModule } from "../api/late-module.ts";
import type { Place } from "../geo/earth.ts";
import type { Drawing } from "./drawing.ts";
import { type DrawnShape, drawnShapeOf } from "./drawn-shape.ts";
import { FENCES_PATH, type Fence, fencePath, type NewFence } from "./fence.ts";
import {
  bodyOf,
  type DraftFault,
  draftOf,
  type FenceDraft,
  faultOf,
  NEW_DRAFT,
  withCircle,
  withPolygon,
} from "./fence-draft.ts";
import { FINE_CORNERS, fenceFeature } from "./fence-shape.ts";

/* From a draft of a geofence to a stored one. */

export interface FenceEditorParts {
  readonly api: Pick<Api, "send" | "fetch" | "retries">;
  readonly map: EditorMap;
  /** The page's accent, `#rrggbb`. */
  readonly accent: () => string;
  readonly onSaved: (fence: Fence) => void;
  readonly onDeleted: (id: string) => void;
  readonly changed: () => void;
}

/** The used part of the map. */
export interface EditorMap {
  readonly camera: Place | null;
  /** Clicks are the drawing's. */
  ignoreClicks(isIgnoring: boolean): void;
  readonly fences: {
    withMap(begin: (map: MapLibreMap) => void): void;
    setChosen(feature: GeoJSON.Feature | null): void;
  };
}

/** Members that change what the map shows. */
const SHAPING: readonly string[] = ["radius_meters", "buffer_meters", "color"];

export type DrawingMode = DrawnShape["kind"];

/** Makes and changes geofences: the draft, its shape on the map, and what the server says of it. */
export class FenceEditor {
  readonly #parts: FenceEditorParts;
  readonly #tool: LateModule<typeof import("./drawing.ts")>;
  #draft: FenceDraft | null = null;
  /** Drafts before changes of the shape, for Esc. */
  #earlier: FenceDraft[] = [];
  #drawing: Drawing | null = null;
  #loading = new AbortController();
  #mode: DrawingMode | null = null;
  #lastMode: DrawingMode = "polygon";
  #isSaving = false;
  #isAskingToDelete = false;
  #fault: DraftFault | null = null;

  constructor(parts: FenceEditorParts) {
    this.#parts = parts;
    this.#tool = new LateModule(parts.api, "fences/drawing.ts", () => import("./drawing.ts"));
  }

  /** Null while nothing is edited. */
  get draft(): FenceDraft | null {
    return this.#draft;
  }

  /** What the user is drawing; null once the shape is complete. */
  get mode(): DrawingMode | null {
    return this.#mode;
  }

  get isSaving(): boolean {
    return this.#isSaving;
  }

  get isAskingToDelete(): boolean {
    return this.#isAskingToDelete;
  }

  get fault(): DraftFault | null {
    return this.#fault;
  }

  /** What would be saved; null until there is a shape. */
  get body(): NewFence | null {
    return this.#draft === null ? null : bodyOf(this.#draft);
  }

  /** Begins a new geofence, whose shape the user draws. */
  begin(mode: DrawingMode): void {
    this.#open(NEW_DRAFT);
    this.draw(mode);
  }

  /** Begins a new geofence around a place. */
  beginAround({ longitude, latitude }: Place, radiusMeters: number, name: string): void {
    this.#open(withCircle({ ...NEW_DRAFT, name }, [longitude, latitude], radiusMeters));
    void this.#showShape();
  }

  edit(fence: Fence): void {
    this.#open(draftOf(fence));
    void this.#showShape();
  }

  /** Changes the form. A fault stays beside its member until that is changed. */
  set(changes: Partial<FenceDraft>, member: string): void {
    if (this.#draft === null) return;
    this.#draft = { ...this.#draft, ...changes };
    if (this.#fault?.member === member || this.#fault?.member === null) this.#fault = null;
    if (member === "color") this.#closeTool(); // It has its color from the start.
    if (SHAPING.includes(member)) void this.#showShape();
    this.#parts.changed();
  }

  /** Lets the user draw the shape, in place of the one that is there. */
  draw(mode: DrawingMode): void {
    this.#mode = mode;
    this.#lastMode = mode;
    this.#parts.map.fences.setChosen(null);
    void this.#useTool((drawing) => drawing.begin(mode));
    this.#parts.changed();
  }

  /** Takes the map's center for a circle, which needs no pointer. */
  circleAtCenter(radiusMeters: number): void {
    const { camera } = this.#parts.map;
    if (this.#draft === null || camera === null) return;
    const { latitude, longitude } = camera;
    this.#take(withCircle(this.#draft, [longitude, latitude], radiusMeters));
    void this.#showShape();
  }

  /** Takes the last corner, or the last change of the shape, back. Returns whether there was one. */
  undo(): boolean {
    if (this.#draft === null) return false;
    if (this.#mode !== null && this.#drawing?.undo()) return true;
    const earlier = this.#earlier.pop();
    if (earlier === undefined) return false;
    const { geometry } = earlier;
    const { radius_meters } = earlier.numbers;
    this.#draft = { ...this.#draft, geometry, numbers: { ...this.#draft.numbers, radius_meters } };
    this.#mode = null;
    if (geometry !== null) void this.#showShape();
    else this.draw(this.#lastMode);
    this.#parts.changed();
    return true;
  }

  async save(): Promise<void> {
    const [draft, body] = [this.#draft, this.body];
    if (draft === null || body === null || this.#isSaving) return;
    const { api, onSaved } = this.#parts;
    await this.#ask(async () => {
      const answer = await (draft.id === null
        ? api.send<{ readonly geofence: Fence }>("POST", FENCES_PATH, body)
        : api.send<{ readonly geofence: Fence }>("PUT", fencePath(draft.id), body));
      return () => onSaved(answer.geofence);
    });
  }

  askToDelete(isAsking: boolean): void {
    this.#isAskingToDelete = isAsking;
    this.#parts.changed();
  }

  async delete(): Promise<void> {
    const id = this.#draft?.id ?? null;
    if (id === null || this.#isSaving) return;
    const { api, onDeleted } = this.#parts;
    this.#isAskingToDelete = false;
    await this.#ask(async () => {
      await api.send("DELETE", fencePath(id));
      return () => onDeleted(id);
    });
  }

  /** Drops the draft. Returns whether there was one. */
  close(): boolean {
    if (this.#draft === null) return false;
    this.#loading.abort();
    this.#closeTool();
    this.#draft = null;
    this.#mode = null;
    this.#fault = null;
    this.#isSaving = false;
    this.#isAskingToDelete = false;
    this.#parts.map.ignoreClicks(false);
    this.#parts.map.fences.setChosen(null);
    this.#parts.changed();
    return true;
  }

  #open(draft: FenceDraft): void {
    this.close();
    this.#loading = new AbortController();
    this.#draft = draft;
    this.#earlier = [];
    this.#parts.map.ignoreClicks(true);
    this.#parts.changed();
  }

  /** Sends a change; what then happens is not done if the user has closed the draft meanwhile. */
  async #ask(send: () => Promise<() => void>): Promise<void> {
    const { changed } = this.#parts;
    const { signal } = this.#loading;
    this.#isSaving = true;
    this.#fault = null;
    changed();
    try {
      const done = await send();
      if (!signal.aborted) this.close();
      done();
    } catch (error) {
      if (signal.aborted) return;
      this.#isSaving = false;
      const isOurs = error instanceof ApiError && error.isRefusal;
      this.#fault = isOurs ? faultOf(error.message) : { member: null, text: sentenceOf(error) };
    }
    changed();
  }

  #take(draft: FenceDraft): void {
    if (this.#draft !== null) this.#earlier.push(this.#draft);
    this.#draft = draft;
    this.#mode = null;
    if (this.#fault?.member === "geometry") this.#fault = null;
    this.#parts.changed();
  }

  #drawn(shape: DrawnShape): void {
    if (this.#draft === null) return;
    this.#take(
      shape.kind === "circle"
        ? withCircle(this.#draft, shape.center, shape.radiusMeters)
        : withPolygon(this.#draft, shape.ring),
    );
  }

  #closeTool(): void {
    this.#drawing?.close();
    this.#drawing = null;
  }

  /** Shows the draft's shape: with handles if the tool can change it. */
  async #showShape(): Promise<void> {
    const { body } = this;
    if (body === null) return;
    const shape = drawnShapeOf(body);
    const { fences } = this.#parts.map;
    fences.setChosen(fenceFeature(body, FINE_CORNERS));
    if (shape === null || this.#mode !== null) return;
    await this.#useTool((drawing) => {
      if (drawing.edit(shape)) fences.setChosen(null);
    });
  }

  /** Loads the tool if need be. */
  async #useTool(use: (drawing: Drawing) => void): Promise<void> {
    const { signal } = this.#loading;
    const { api, map, changed } = this.#parts;
    const onPause = (error: ApiError) => {
      this.#fault = { member: "geometry", text: retryingSentenceOf(error) };
      changed();
    };
    try {
      const module = await api.retries.ask(() => this.#tool.load(), { signal, onPause });
      if (signal.aborted) return;
      map.fences.withMap((libre) => {
        if (signal.aborted) return;
        this.#drawing ??= new module.Drawing({
          map: libre,
          color: this.#draft?.color ?? this.#parts.accent(),
          onShape: (shape) => this.#drawn(shape),
        });
        use(this.#drawing);
      });
    } catch (error) {
      if (signal.aborted) return;
      this.#fault = { member: "geometry", text: sentenceOf(error) };
      changed();
    }
  }
}

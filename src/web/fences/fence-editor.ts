import type { MapLibreMap } from "maplibre-gl";
import type { Api } from "../api/api.ts";
import { type ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { LateModule } from "../api/late-module.ts";
import type { Place } from "../geo/earth.ts";
import { DraftEditor } from "../items/draft-editor.ts";
import type { Drawing } from "./drawing.ts";
import { type DrawnShape, drawnShapeOf } from "./drawn-shape.ts";
import { FENCES_PATH, type Fence, type NewFence } from "./fence.ts";
import {
  bodyOf,
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
  /** Saves and deletes. */
  readonly form: DraftEditor<FenceDraft, { readonly geofence: Fence }>;
  /** Drafts before changes of the shape, for Esc. */
  #earlier: FenceDraft[] = [];
  #drawing: Drawing | null = null;
  #mode: DrawingMode | null = null;
  #lastMode: DrawingMode = "polygon";

  constructor(parts: FenceEditorParts) {
    this.#parts = parts;
    const { api, onSaved, onDeleted, changed } = parts;
    this.form = new DraftEditor({
      ...{ api, path: FENCES_PATH, bodyOf, faultOf, onDeleted, changed },
      onSaved: ({ geofence }) => onSaved(geofence),
      onClosed: () => this.#closed(),
    });
    this.#tool = new LateModule(parts.api, "fences/drawing.ts", () => import("./drawing.ts"));
  }

  /** Null while nothing is edited. */
  get draft(): FenceDraft | null {
    return this.form.draft;
  }

  /** What the user is drawing; null once the shape is complete. */
  get mode(): DrawingMode | null {
    return this.#mode;
  }

  /** What would be saved; null until there is a shape. */
  get body(): NewFence | null {
    return this.draft === null ? null : bodyOf(this.draft);
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

  /** Changes the form. */
  set(changes: Partial<FenceDraft> | ((draft: FenceDraft) => Partial<FenceDraft>), member: string): void {
    if (this.draft === null) return;
    if (member === "color") this.#closeTool(); // It has its color from the start.
    this.form.set(changes, member);
    if (SHAPING.includes(member)) void this.#showShape();
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
    if (this.draft === null || camera === null) return;
    const { latitude, longitude } = camera;
    this.#take(withCircle(this.draft, [longitude, latitude], radiusMeters));
    void this.#showShape();
  }

  /** Takes the last corner, or the last change of the shape, back. Returns whether there was one. */
  undo(): boolean {
    const { draft } = this;
    if (draft === null) return false;
    if (this.#mode !== null && this.#drawing?.undo()) return true;
    const earlier = this.#earlier.pop();
    if (earlier === undefined) return false;
    const { geometry } = earlier;
    const { radius_meters } = earlier.numbers;
    this.#mode = null;
    this.form.set({ geometry, numbers: { ...draft.numbers, radius_meters } }, "geometry");
    if (geometry !== null) void this.#showShape();
    else this.draw(this.#lastMode);
    return true;
  }

  /** Drops the draft. Returns whether there was one. */
  close(): boolean {
    return this.form.close();
  }

  #closed(): void {
    this.#closeTool();
    this.#mode = null;
    this.#parts.map.ignoreClicks(false);
    this.#parts.map.fences.setChosen(null);
  }

  #open(draft: FenceDraft): void {
    this.form.open(draft);
    this.#earlier = [];
    this.#parts.map.ignoreClicks(true);
  }

  #take(draft: FenceDraft): void {
    if (this.draft !== null) this.#earlier.push(this.draft);
    this.#mode = null;
    this.form.set(draft, "geometry");
  }

  #drawn(shape: DrawnShape): void {
    if (this.draft === null) return;
    this.#take(
      shape.kind === "circle"
        ? withCircle(this.draft, shape.center, shape.radiusMeters)
        : withPolygon(this.draft, shape.ring),
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
    const { signal } = this.form;
    const { api, map } = this.#parts;
    const onPause = (error: ApiError) => {
      this.form.fail({ member: "geometry", text: retryingSentenceOf(error) });
    };
    try {
      const module = await api.retries.ask(() => this.#tool.load(), { signal, onPause });
      if (signal.aborted) return;
      map.fences.withMap((libre) => {
        if (signal.aborted) return;
        this.#drawing ??= new module.Drawing({
          map: libre,
          color: this.draft?.color ?? this.#parts.accent(),
          onShape: (shape) => this.#drawn(shape),
        });
        use(this.#drawing);
      });
    } catch (error) {
      if (signal.aborted) return;
      this.form.fail({ member: "geometry", text: sentenceOf(error) });
    }
  }
}

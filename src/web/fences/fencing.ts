import type { Api } from "../api/api.ts";
import type { Place } from "../geo/earth.ts";
import type { Units } from "../geo/units.ts";
import type { Stay } from "../history/story.ts";
import type { Track } from "../history/track.ts";
import { ChosenDevices, type ChosenDevicesParts } from "../items/chosen-devices.ts";
import type { PickListener } from "../map/map-clicks.ts";
import { fitBesideCard, flyBesideCard, type MovingMap } from "./beside-card.ts";
import { FENCES_PATH, type Fence, type NewFence } from "./fence.ts";
import { type EditorMap, FenceEditor } from "./fence-editor.ts";
import { FenceList } from "./fence-list.ts";
import { FencePreview, type FencePreviewParts, spanOf } from "./fence-preview.ts";
import { FINE_CORNERS, fenceBounds, fenceFeature } from "./fence-shape.ts";
import { FencesInView, type FencesMap } from "./fences-in-view.ts";
import { stopRadiusMeters } from "./stop-radius.ts";

/* What a user does with the geofences of the app. */

export interface FencingParts {
  readonly api: Api;
  readonly map: FencesMap & EditorMap & FencePreviewParts["map"] & ChosenMap;
  readonly zones: { readonly zone: string };
  readonly settings: { readonly units: Units };
  readonly table: ChosenDevicesParts["table"];
  readonly sheet: { lower(): void };
  /** Whether the user may change geofences. */
  readonly mayManage: () => boolean;
  /** Called when the user has chosen a geofence on the map. */
  readonly onPicked: () => void;
  readonly changed: () => void;
}

/** The part of the map that shows the chosen geofence. */
interface ChosenMap extends MovingMap {
  onPick(listener: PickListener): () => void;
  readonly fences: { idAt(at: Place): string | null };
}

/** The list, the map, the draft and the preview: which of them is shown, and where Esc leads. */
export class Fencing {
  readonly #parts: FencingParts;
  readonly list: FenceList;
  readonly view: FencesInView;
  readonly editor: FenceEditor;
  readonly preview: FencePreview;
  readonly devices: ChosenDevices;
  #stopPicking = () => {};
  #chosen: Fence | null = null;
  #isOpen = false;

  constructor(parts: FencingParts) {
    const { api, map, zones, changed } = parts;
    this.#parts = parts;
    this.list = new FenceList({ api, changed });
    this.view = new FencesInView({ api, map, changed });
    this.preview = new FencePreview({
      ...{ api, path: FENCES_PATH, zones, changed },
      map: { flyTo: (place) => flyBesideCard(map, place), fences: map.fences },
    });
    this.editor = new FenceEditor({
      ...{ api, map, changed },
      accent: () => getComputedStyle(document.documentElement).getPropertyValue("--accent").trim(),
      onSaved: (fence) => this.#saved(fence),
      onDeleted: (id) => this.#deleted(id),
    });
    this.devices = new ChosenDevices(this.editor, parts);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get mayManage(): boolean {
    return this.#parts.mayManage();
  }

  get units(): Units {
    return this.#parts.settings.units;
  }

  get zone(): string {
    return this.#parts.zones.zone;
  }

  /** The geofence whose rules are shown; null if there is none. */
  get chosen(): Fence | null {
    return this.#chosen;
  }

  /** What a preview is of. */
  get previewed(): NewFence | null {
    return this.editor.draft === null ? this.#chosen : this.editor.body;
  }

  labelOf(deviceId: string): string {
    return this.#parts.table.labelOf(deviceId);
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#stopPicking = this.#parts.map.onPick((row, at) => {
      const id = row === null ? this.#parts.map.fences.idAt(at) : null;
      if (id !== null && id !== this.#chosen?.id) void this.chooseById(id);
    });
    this.view.open();
    void this.list.load();
  }

  /** Begins a geofence around a stop of a device's day. */
  beginAtStop(stay: Stay, track: Track): void {
    this.open();
    this.#leave();
    this.editor.beginAround(stay.stop, stopRadiusMeters(stay, track), stay.stop.place?.name ?? "");
    this.preview.choose(spanOf(stay.startMs, this.zone, Date.now()));
    if (this.editor.body !== null) this.#fit(this.editor.body);
    this.#parts.sheet.lower();
  }

  begin(mode: "polygon" | "circle"): void {
    this.#leave();
    this.editor.begin(mode);
    this.#parts.sheet.lower();
  }

  edit(): void {
    const fence = this.#chosen;
    if (fence === null) return;
    this.preview.cancel();
    this.view.hide(fence.id);
    this.editor.edit(fence);
    this.#parts.sheet.lower();
  }

  choose(fence: Fence): void {
    this.#leave();
    this.#chosen = fence;
    this.#parts.map.fences.setChosen(fenceFeature(fence, FINE_CORNERS));
    this.#fit(fence);
    this.#parts.changed();
  }

  async chooseById(id: string): Promise<void> {
    const fence = await this.list.loadOne(id);
    if (fence === null || !this.#isOpen || this.editor.draft !== null) return;
    this.choose(fence);
    this.#parts.onPicked();
  }

  /** Esc: takes back the last change of a shape, or else goes back. Returns whether there was anything. */
  escape(): boolean {
    return this.editor.undo() || this.preview.cancel() || this.leave();
  }

  /** Goes back to the rules from the draft, and to the list from the rules. Returns false at the list. */
  leave(): boolean {
    this.preview.cancel();
    if (this.editor.close()) {
      this.view.hide(null);
      this.#show(this.#chosen);
      return true;
    }
    if (this.#chosen === null) return false;
    this.#show(null);
    return true;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#leave();
    this.#stopPicking();
    this.view.close();
    this.list.close();
    this.#parts.changed();
  }

  #fit(fence: NewFence): void {
    fitBesideCard(this.#parts.map, fenceBounds(fence));
  }

  #leave(): void {
    this.preview.cancel();
    this.editor.close();
    this.view.hide(null);
    this.#show(null);
  }

  #show(fence: Fence | null): void {
    this.#chosen = fence;
    this.#parts.map.fences.setChosen(fence === null ? null : fenceFeature(fence, FINE_CORNERS));
    this.#parts.changed();
  }

  #saved(fence: Fence): void {
    this.preview.cancel();
    this.list.put(fence);
    this.view.hide(null);
    this.view.put(fence);
    this.#show(fence);
  }

  #deleted(id: string): void {
    this.list.remove(id);
    this.view.remove(id);
    this.view.hide(null);
    this.#show(null);
  }
}

import type { Api } from "../api/api.ts";
import { flyBesideCard, type MovingMap } from "../fences/beside-card.ts";
import { FencePreview, type FencePreviewParts } from "../fences/fence-preview.ts";
import type { Units } from "../geo/units.ts";
import { ChosenDevices, type ChosenDevicesParts } from "../items/chosen-devices.ts";
import { DraftEditor } from "../items/draft-editor.ts";
import { PagedList } from "../items/paged-list.ts";
import { ALERTS_PATH, type Alert } from "./alert.ts";
import { type AlertDraft, bodyOf, draftOf, faultOf, newAlert } from "./alert-draft.ts";

/* What a user does with the alerts of the app. */

export interface AlertsParts {
  readonly api: Pick<Api, "get" | "send" | "fetch" | "retries">;
  readonly map: MovingMap & Pick<FencePreviewParts["map"], "fences">;
  readonly zones: { readonly zone: string };
  readonly settings: { readonly units: Units };
  readonly table: ChosenDevicesParts["table"];
  /** Whether the user may change alerts. */
  readonly mayManage: () => boolean;
  readonly changed: () => void;
}

/** The alerts of the app: their list, the rules of one, its draft, and what it would have said. */
export class Alerts {
  readonly #parts: AlertsParts;
  readonly list: PagedList<Alert>;
  readonly editor: DraftEditor<AlertDraft, { readonly alert: Alert }>;
  readonly devices: ChosenDevices;
  readonly preview: FencePreview;
  #chosen: Alert | null = null;

  constructor(parts: AlertsParts) {
    const { api, map, zones, changed } = parts;
    this.#parts = parts;
    this.list = new PagedList({ path: ALERTS_PATH, member: "alerts", idOf: ({ id }) => id }, parts);
    this.editor = new DraftEditor<AlertDraft, { readonly alert: Alert }>({
      ...{ api, path: ALERTS_PATH, bodyOf, faultOf, changed },
      onSaved: ({ alert }) => this.#saved(alert),
      onDeleted: (id) => this.#deleted(id),
    });
    this.devices = new ChosenDevices(this.editor, parts);
    this.preview = new FencePreview({
      ...{ api, path: ALERTS_PATH, zones, changed },
      map: { flyTo: (place) => flyBesideCard(map, place), fences: map.fences },
    });
  }

  /** Null while the list is shown. */
  get chosen(): Alert | null {
    return this.#chosen;
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

  /** What a preview is of; null while the draft has no limit. */
  get previewed(): unknown {
    const draft = this.editor.draft ?? (this.#chosen === null ? null : draftOf(this.#chosen, this.units));
    return draft === null || draft.limit.trim() === "" ? null : bodyOf(draft);
  }

  labelOf(deviceId: string): string {
    return this.#parts.table.labelOf(deviceId);
  }

  open(): void {
    void this.list.load();
  }

  begin(): void {
    this.#show(null);
    this.editor.open(newAlert(this.units));
  }

  edit(): void {
    if (this.#chosen === null) return;
    this.preview.cancel();
    this.editor.open(draftOf(this.#chosen, this.units));
  }

  choose(alert: Alert): void {
    this.#show(alert);
  }

  /** Esc: ends a preview, or else goes back. Returns whether there was anything. */
  escape(): boolean {
    return this.preview.cancel() || this.leave();
  }

  /** Goes back to the rules from the draft, and to the list from the rules. Returns false at the list. */
  leave(): boolean {
    this.preview.cancel();
    if (this.editor.close()) return true;
    if (this.#chosen === null) return false;
    this.#show(null);
    return true;
  }

  close(): void {
    this.editor.close();
    this.#show(null);
    this.list.close();
  }

  #saved(alert: Alert): void {
    this.list.put(alert);
    if (this.editor.draft === null) this.#show(alert);
  }

  #deleted(id: string): void {
    this.list.remove(id);
    if (this.#chosen?.id === id) this.#show(null);
  }

  #show(alert: Alert | null): void {
    this.preview.cancel();
    this.#chosen = alert;
    this.#parts.changed();
  }
}

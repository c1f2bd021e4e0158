import { render } from "lit-html";
import { Api } from "../api/api.ts";
import { LatePart } from "../api/late-part.ts";
import { createDeviceParts, type DeviceParts, setDeviceKeys } from "../device/device-parts.ts";
import { DeviceList } from "../devices/device-list.ts";
import { DeviceTable } from "../devices/device-table.ts";
import { ListView } from "../devices/list-view.ts";
import { LiveDevices, liveWhileSeen } from "../devices/live.ts";
import { LiveEvents } from "../devices/live-events.ts";
import type { Trails } from "../history/trails.ts";
import { FileImport } from "../import/file-import.ts";
import { MapView } from "../map/map-view.ts";
import { type Credential, Session } from "../session/session.ts";
import { isSharePath } from "../session/visitor.ts";
import { Settings } from "../settings/settings.ts";
import { openDialogs } from "../shell/dialog.ts";
import { Keyboard } from "../shell/keyboard.ts";
import { Sheet } from "../shell/sheet.ts";
import { shell } from "../shell/shell.ts";
import { Theme } from "../shell/theme.ts";
import { setHourCycle } from "../time/format.ts";
import { ZoneChoice } from "../time/zone-choice.ts";
import { Tools } from "../tools/tools.ts";
import { Navigation } from "./navigation.ts";
import { beginVisit } from "./visit.ts";

/** How often ages and the order of the list are updated. */
const REFRESH_MS = 1000;

/** The page: creates the parts, connects them to each other, and draws them. */
export class Page {
  readonly #root: HTMLElement;
  #isDrawing = false;
  readonly api = new Api(isSharePath(location.pathname) ? "share" : "map");
  readonly keyboard = new Keyboard();
  readonly session: Session;
  readonly theme: Theme;
  readonly sheet: Sheet;
  readonly table = new DeviceTable();
  readonly live: LiveDevices;
  readonly listView: ListView;
  readonly map: MapView;
  readonly settings = new Settings(window);
  readonly zones: ZoneChoice;
  readonly device: DeviceParts;
  readonly tools: Tools;
  readonly imports: FileImport;
  /** The trails of a share link to several devices. */
  readonly trails: LatePart<typeof import("../history/trails.ts"), Trails>;
  readonly #navigation: Navigation;
  #endVisit: () => void = () => undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
    const changed = () => this.changed();
    this.theme = new Theme(this.settings, changed);
    this.sheet = new Sheet(changed);
    const { api, table, keyboard, settings } = this;
    const { retries } = api;
    this.session = new Session({ api, retries, changed: () => this.#sessionChanged() });
    const streamed = (path: string, init: RequestInit) => api.fetch(path, init);
    this.live = new LiveDevices({ fetch: streamed, table, retries, changed });
    liveWhileSeen(this.live);
    const liveEvents = new LiveEvents({ fetch: streamed, retries });
    liveWhileSeen(liveEvents);
    const list = new DeviceList(table, changed);
    this.listView = new ListView({ table, list, changed, choose: (id) => this.device.chosen.choose(id) });
    const mayRead = () => this.session.may("read");
    this.map = new MapView({ api, table, theme: this.theme.name, settings, mayRead, changed });
    this.zones = new ZoneChoice(settings, () => {
      this.device.chosen.reload();
      this.tools.density.reload();
    });
    const { map, zones, sheet } = this;
    const onChoose = (id: string | null) => this.sheet.show(id === null ? "list" : "device");
    const viewOf = () => this.session.facts?.view ?? null;
    const mayEdit = () => this.session.may("edit");
    const keyId = () => this.session.facts?.key_id ?? null;
    const onMove = (hasBegun: boolean) => (hasBegun ? sheet.lower() : sheet.show("time"));
    const onCorrected = () => this.#reloadPast();
    this.device = createDeviceParts({
      ...{ api, zones, table, liveEvents, map, viewOf, settings, mayEdit, keyId },
      ...{ onChoose, onMove, onCorrected, changed },
    });
    const { chosen } = this.device;
    const mayManage = () => this.session.may("manage");
    this.tools = new Tools({
      ...{ api, table, liveEvents, map, chosen, zones, settings, sheet, mayRead, mayManage, changed },
    });
    this.tools.setKeys(keyboard);
    const refusal = () =>
      this.session.may("write")
        ? null
        : this.session.state === "in"
          ? "Importing needs a key with the permission write."
          : "Sign in to import files.";
    const onImported = () => this.#reloadPast();
    this.imports = new FileImport({ api, table, map, chosen, zones, settings, refusal, onImported, changed });
    this.imports.listen(window);
    this.trails = new LatePart({
      ...{ api, changed, path: "history/trails.ts" },
      load: () => import("../history/trails.ts"),
      create: ({ Trails }) => new Trails({ api, devices: table, map }),
    });
    setDeviceKeys(keyboard, this.device);
    setHourCycle(settings.values.hourCycle);
    settings.onChange(() => this.#settingsChanged());
    this.#navigation = new Navigation({ chosen, zones, map }, window);
    addEventListener("online", () => retries.wake());
    setInterval(() => {
      list.refresh();
      chosen.refresh(Date.now());
      this.device.corrections.loaded?.active.refresh(Date.now());
    }, REFRESH_MS);
    keyboard.on("/", () => {
      this.sheet.show("list");
      this.#draw(); // Synchronously: a hidden field takes no focus, and the next key is a letter of the search.
      this.listView.focusSearch();
    });
    keyboard.listen();
    root.replaceChildren();
    this.#draw();
  }

  /** Draws the page in the next frame. */
  changed(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  begin(credential: Credential | null): Promise<void> {
    return this.session.begin(credential);
  }

  /** Loads everything about the past again, since records of it have changed. */
  #reloadPast(): void {
    this.device.chosen.reload();
    this.device.days.loaded?.reload();
    this.tools.density.reload();
  }

  #settingsChanged(): void {
    setHourCycle(this.settings.values.hourCycle);
    this.map.setUnits();
    this.device.plots.rescale();
    this.tools.nearby.setUnits();
    this.#updateGround();
    this.changed();
  }

  /** Starts the live stream when a user signs in, and removes all positions when the session ends. */
  #sessionChanged(): void {
    if (this.session.state === "in") {
      this.live.begin();
      this.#navigation.begin();
      const { view = null } = this.session.facts ?? {};
      if (view !== null) this.#endVisit = beginVisit(view, { ...this, chosen: this.device.chosen });
    } else {
      this.#endVisit();
      this.trails.close();
      this.#navigation.end();
      this.live.end();
      this.device.chosen.choose(null);
      this.device.days.close();
      this.device.editor.close();
      this.device.corrections.close();
      this.tools.close();
      this.imports.close();
    }
    this.#updateGround();
    this.changed();
  }

  /** Visitors of a share link see no tracks. */
  #updateGround(): void {
    const mayRead = this.session.state === "in" && this.session.may("read");
    this.map.showTracks(mayRead && this.settings.values.tracks !== "hidden");
  }

  #draw(): void {
    this.map.setTheme(this.theme.name);
    render(shell(this), this.#root);
    this.map.keepClearOf(this.#root.querySelector(".sheet"));
    openDialogs(this.#root);
    this.#navigation.write();
  }
}

import { html, nothing, type TemplateResult } from "lit-html";
import type { Api } from "../api/api.ts";
import type { SearchedDevices } from "../devices/name-search.ts";
import type { Units } from "../geo/units.ts";
import { Connect } from "./connect.ts";
import { connectDialog, emptyPage } from "./connect-panel.ts";
import { Copying } from "./copying.ts";
import type { KnownDevices } from "./first-report.ts";
import { PageKeys } from "./page-keys.ts";
import { Share } from "./share.ts";
import { shareDialog } from "./share-dialog.ts";

export interface MakingParts {
  readonly api: Api;
  readonly table: KnownDevices & SearchedDevices & { labelOf(id: string): string };
  readonly chosen: { readonly id: string | null };
  readonly zones: { readonly zone: string };
  readonly settings: { readonly units: Units };
  readonly changed: () => void;
}

/** Creates keys on the page: share links, and keys for phones. Its code is loaded when a user first needs it. */
export class Making {
  readonly #keys: PageKeys;
  readonly share: Share;
  readonly connect: Connect;

  constructor(parts: MakingParts) {
    this.#keys = new PageKeys(parts);
    const copying = new Copying(parts.changed);
    const shared = { ...parts, devices: parts.table, keys: this.#keys, copying };
    // Browsers have it only with TLS.
    const send = typeof navigator.share === "function" ? navigator.share.bind(navigator) : null;
    this.share = new Share({ ...shared, origin: location.origin, send });
    this.connect = new Connect({ ...shared, location });
  }

  /** Forgets everything at the end of a session. */
  close(): void {
    this.#keys.forget();
    this.share.close();
    this.connect.close();
  }

  dialogs(): TemplateResult {
    return html`${shareDialog(this.share)} ${connectDialog(this.connect)}`;
  }

  /** Covers the map while there is no device, and until the user has seen that the first one reported. */
  emptyPage(isEmpty: boolean, mayConnect: boolean): TemplateResult | typeof nothing {
    const isConnecting = this.connect.made !== null && !this.connect.isOpen;
    return isEmpty || isConnecting ? emptyPage(this.connect, mayConnect, isEmpty) : nothing;
  }
}

import type { nothing, TemplateResult } from "lit-html";
import type { Units } from "../geo/units.ts";
import { Copying } from "../keys/copying.ts";
import { importDialog } from "./import-dialog.ts";
import { Importing, type ImportingParts } from "./importing.ts";

/** What the page provides to the import. */
export interface ImportsParts extends Omit<ImportingParts, "copying" | "origin" | "send"> {
  readonly settings: { readonly units: Units };
}

/** The import with its dialog. Its code is loaded when a user first needs it. */
export class Imports {
  readonly #parts: ImportsParts;
  readonly importing: Importing;

  constructor(parts: ImportsParts) {
    this.#parts = parts;
    const { origin } = location;
    this.importing = new Importing({ ...parts, copying: new Copying(parts.changed), origin });
  }

  close(): void {
    this.importing.close();
  }

  dialog(): TemplateResult | typeof nothing {
    return importDialog(this.importing, this.#parts.settings.units);
  }
}

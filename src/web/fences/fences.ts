import { nothing, type TemplateResult } from "lit-html";
import { fencesPanel } from "./fences-panel.ts";
import { Fencing } from "./fencing.ts";

/** The geofences of the app, and how the page draws them. Their code is loaded when a user first opens them. */
export class Fences extends Fencing {
  panel(): TemplateResult | typeof nothing {
    return this.isOpen ? fencesPanel(this) : nothing;
  }
}

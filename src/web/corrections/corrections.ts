import { nothing, type TemplateResult } from "lit-html";
import type { Units } from "../geo/units.ts";
import { confirmDialog } from "./confirm-dialog.ts";
import { Correcting, type CorrectingParts } from "./correcting.ts";
import { type CorrectionsListParts, correctionsList } from "./corrections-list.ts";
import { moveCard } from "./move-card.ts";
import { selectionBar } from "./selection-bar.ts";
import type { AccuracySetting } from "./suspects.ts";
import { suspiciousList } from "./suspicious-list.ts";

/* What the page loads to correct the days of a device. */

interface CorrectionsParts extends CorrectingParts {
  readonly settings: AccuracySetting & { readonly units: Units };
  /** The id of the user's key; null without a session. */
  readonly keyId: () => string | null;
  readonly look: CorrectionsListParts["look"];
}

/** Corrections of the chosen device, and how the page draws them. Their code is loaded with the first day. */
export class Corrections extends Correcting {
  readonly #parts: CorrectionsParts;

  constructor(parts: CorrectionsParts) {
    super(parts);
    this.#parts = parts;
  }

  /** The suspicious positions of the shown days. */
  suggestions(): TemplateResult | typeof nothing {
    return suspiciousList(this, this.#parts.settings.units);
  }

  /** What has been corrected of the device. */
  list(): TemplateResult | typeof nothing {
    const { keyId, look } = this.#parts;
    return correctionsList({ corrections: this, keyId: keyId(), look });
  }

  /** What is selected, or what has just been done. */
  bar(clockMs: number | null): TemplateResult | typeof nothing {
    return selectionBar(this, clockMs);
  }

  /** Where a position is moved to; null if none is being moved. */
  card(): TemplateResult | null {
    const { move, hasBegun } = this.moving;
    return move === null || !hasBegun ? null : moveCard(this, move, this.#parts.settings.units);
  }

  dialogs(): TemplateResult | typeof nothing {
    const { confirmation } = this.confirming;
    return confirmation === null ? nothing : confirmDialog(this, confirmation);
  }
}

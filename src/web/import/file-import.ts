import { html, nothing, type TemplateResult } from "lit-html";
import { LatePart } from "../api/late-part.ts";
import { faultNote } from "../shell/fault-note.ts";
import { droppedFiles, type QueuedFile } from "./chosen-files.ts";
import type { Imports, ImportsParts } from "./imports.ts";

/** What the page provides to the import. */
export interface FileImportParts extends ImportsParts {
  /** Why files can't be imported now; null if they can. */
  readonly refusal: () => string | null;
}

/** The used part of a `DragEvent`. */
interface Drag {
  readonly dataTransfer: DataTransfer | null;
  readonly relatedTarget?: EventTarget | null;
  preventDefault(): void;
}

/** Imports files that the user drops on the page or chooses. The code of the dialog is loaded on first use. */
export class FileImport {
  readonly #parts: FileImportParts;
  readonly #late: LatePart<typeof import("./imports.ts"), Imports>;
  #isOver = false;

  constructor(parts: FileImportParts) {
    this.#parts = parts;
    this.#late = new LatePart({
      api: parts.api,
      path: "import/imports.ts",
      load: () => import("./imports.ts"),
      create: ({ Imports }) => new Imports(parts),
      changed: parts.changed,
    });
  }

  /** Whether files are dragged over the page. */
  get isOver(): boolean {
    return this.#isOver;
  }

  open(files: readonly QueuedFile[] = []): void {
    void this.#late.use(({ importing }) => importing.open(files));
  }

  /** Forgets everything at the end of a session. */
  close(): void {
    this.#setOver(false);
    this.#late.close();
  }

  listen(target: Pick<Window, "addEventListener">): void {
    target.addEventListener("dragenter", (event) => this.over(event));
    target.addEventListener("dragover", (event) => this.over(event));
    target.addEventListener("dragleave", (event) => this.leave(event));
    target.addEventListener("drop", (event) => this.drop(event));
  }

  over(event: Drag): void {
    if (!hasFiles(event)) return;
    event.preventDefault(); // Otherwise the browser would leave the page and open the file.
    event.dataTransfer!.dropEffect = this.#parts.refusal() === null ? "copy" : "none";
    this.#setOver(true);
  }

  /** The pointer has left the page if it is over no other element. */
  leave({ relatedTarget }: Drag): void {
    if (relatedTarget == null) this.#setOver(false);
  }

  drop(event: Drag): void {
    if (!hasFiles(event)) return;
    event.preventDefault();
    this.#setOver(false);
    if (this.#parts.refusal() === null) this.open(droppedFiles(event.dataTransfer!));
  }

  /** The place to drop files on, and the dialog. */
  windows(): TemplateResult {
    return html`${this.#isOver ? dropTarget(this.#parts.refusal()) : nothing} ${this.#late.loaded?.dialog()}`;
  }

  /** Why the dialog could not be loaded. */
  faultNote(): TemplateResult | typeof nothing {
    const { fault } = this.#late;
    if (fault === null) return nothing;
    return faultNote(fault, { label: "Try again", act: () => this.#late.retry() }, "visitor");
  }

  #setOver(isOver: boolean): void {
    if (isOver === this.#isOver) return;
    this.#isOver = isOver;
    this.#parts.changed();
  }
}

function dropTarget(refusal: string | null): TemplateResult {
  return html`<div class="drop-target"><p>
    <strong>${refusal ?? "Drop to see what is in it"}</strong>
    ${refusal === null ? html`<br>GPX, KML or GeoJSON. Nothing is stored before you say so.` : nothing}
  </p></div>`;
}

/** Texts and links can be dragged, too. */
function hasFiles({ dataTransfer }: Drag): boolean {
  return dataTransfer?.types.includes("Files") ?? false;
}

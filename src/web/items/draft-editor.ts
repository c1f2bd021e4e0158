import { type Api, itemPath } from "../api/api.ts";
import { ApiError, sentenceOf } from "../api/api-error.ts";
import type { DraftFault } from "./draft-fault.ts";

/* The draft that a form changes, and how it is stored. */

export interface DraftEditorParts<Draft, Answer> {
  readonly api: Pick<Api, "send">;
  /** The path of all items; the id of one follows behind it. */
  readonly path: string;
  /** The body of a request; null while the draft can't be sent. */
  readonly bodyOf: (draft: Draft) => unknown;
  readonly faultOf: (message: string) => DraftFault;
  readonly onSaved: (answer: Answer) => void;
  readonly onDeleted: (id: string) => void;
  readonly onClosed?: () => void;
  readonly changed: () => void;
}

/** An item while a user edits it. */
export interface Draft {
  /** Null for a new item. */
  readonly id: string | null;
}

/** A draft of an item until the server has stored it, and the server's errors about it. */
export class DraftEditor<D extends Draft, Answer> {
  readonly #parts: DraftEditorParts<D, Answer>;
  #draft: D | null = null;
  #life = new AbortController();
  #isSaving = false;
  #isAskingToDelete = false;
  #fault: DraftFault | null = null;

  constructor(parts: DraftEditorParts<D, Answer>) {
    this.#parts = parts;
  }

  /** Null while nothing is edited. */
  get draft(): D | null {
    return this.#draft;
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

  /** Aborted when the draft is closed. */
  get signal(): AbortSignal {
    return this.#life.signal;
  }

  open(draft: D): void {
    this.close();
    this.#life = new AbortController();
    this.#draft = draft;
    this.#parts.changed();
  }

  /**
   * Changes the form. A change that builds on the draft is a function: another may have come since the form was drawn.
   * A fault stays beside its member until that is changed.
   */
  set(changes: Partial<D> | ((draft: D) => Partial<D>), member: string): void {
    if (this.#draft === null) return;
    const members = typeof changes === "function" ? changes(this.#draft) : changes;
    this.#draft = { ...this.#draft, ...members };
    if (this.#fault?.member === member || this.#fault?.member === null) this.#fault = null;
    this.#parts.changed();
  }

  fail(fault: DraftFault): void {
    this.#fault = fault;
    this.#parts.changed();
  }

  async save(): Promise<void> {
    const draft = this.#draft;
    const body = draft === null ? null : this.#parts.bodyOf(draft);
    if (draft === null || body === null || this.#isSaving) return;
    const { api, path, onSaved } = this.#parts;
    await this.#ask(async () => {
      const { id } = draft;
      const answer = await (id === null
        ? api.send<Answer>("POST", path, body)
        : api.send<Answer>("PUT", itemPath(path, id), body));
      return () => onSaved(answer);
    });
  }

  askToDelete(isAsking: boolean): void {
    this.#isAskingToDelete = isAsking;
    this.#parts.changed();
  }

  async delete(): Promise<void> {
    const id = this.#draft?.id ?? null;
    if (id === null || this.#isSaving) return;
    const { api, path, onDeleted } = this.#parts;
    this.#isAskingToDelete = false;
    await this.#ask(async () => {
      await api.send("DELETE", itemPath(path, id));
      return () => onDeleted(id);
    });
  }

  /** Drops the draft. Returns whether there was one. */
  close(): boolean {
    if (this.#draft === null) return false;
    this.#life.abort();
    this.#draft = null;
    this.#fault = null;
    this.#isSaving = false;
    this.#isAskingToDelete = false;
    this.#parts.onClosed?.();
    this.#parts.changed();
    return true;
  }

  /** Sends a change. If the user has closed the draft meanwhile, a success is still reported, but not a failure. */
  async #ask(send: () => Promise<() => void>): Promise<void> {
    const { changed, faultOf } = this.#parts;
    const { signal } = this.#life;
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
}

import { html, type TemplateResult } from "lit-html";

/* Windows over the page. */

export interface DialogParts {
  /** In letters and hyphens: names the dialog to scripts and styles. */
  readonly name: string;
  readonly title: string;
  readonly body: TemplateResult;
  /** It is closed: by its button, by Esc, or beside it. */
  readonly closed: () => void;
}

const shown = new WeakSet<HTMLDialogElement>();

export function dialog({ name, title, body, closed }: DialogParts): TemplateResult {
  return html`<dialog id=${name} aria-labelledby="${name}-title" @close=${closed} @click=${closeFromBackdrop}>
    <div class="dialog-head">
      <h2 id="${name}-title">${title}</h2>
      <button class="quiet" aria-label="Close" @click=${closeOf}>✕</button>
    </div>
    <div class="dialog-body">${body}</div>
  </dialog>`;
}

/** Opens those that have been drawn since. The browser keeps the focus inside, and gives it back. */
export function openDialogs(root: HTMLElement): void {
  for (const element of root.querySelectorAll("dialog")) {
    if (shown.has(element)) continue;
    shown.add(element);
    element.showModal();
  }
}

function closeOf(event: Event): void {
  (event.currentTarget as HTMLElement).closest("dialog")?.close();
}

/** What lies beside a dialog counts as a part of it. */
function closeFromBackdrop(event: MouseEvent): void {
  if (event.target === event.currentTarget) closeOf(event);
}

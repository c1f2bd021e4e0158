import { html, type TemplateResult } from "lit-html";

/* Modal dialogs over the page. */

export interface DialogParts {
  /** The element's id, of letters and hyphens. */
  readonly name: string;
  readonly title: string;
  readonly body: TemplateResult;
  /** Called when the dialog is closed: by its button, by Esc, or by a click beside it. */
  readonly closed: () => void;
}

const openedDialogs = new WeakSet<HTMLDialogElement>();

export function dialog({ name, title, body, closed }: DialogParts): TemplateResult {
  return html`<dialog id=${name} aria-labelledby="${name}-title" @close=${closed} @click=${closeFromBackdrop}>
    <div class="dialog-head">
      <h2 id="${name}-title">${title}</h2>
      <button class="quiet" aria-label="Close" @click=${closeOf}>✕</button>
    </div>
    <div class="dialog-body">${body}</div>
  </dialog>`;
}

/** Opens new dialogs after a draw. The browser keeps the focus inside, and restores it afterwards. */
export function openDialogs(root: HTMLElement): void {
  for (const element of root.querySelectorAll("dialog")) {
    if (openedDialogs.has(element)) continue;
    openedDialogs.add(element);
    element.showModal();
  }
}

function closeOf(event: Event): void {
  (event.currentTarget as HTMLElement).closest("dialog")?.close();
}

/** A click beside a dialog has the dialog itself as its target. */
function closeFromBackdrop(event: MouseEvent): void {
  if (event.target === event.currentTarget) closeOf(event);
}

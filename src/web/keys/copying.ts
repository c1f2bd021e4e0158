import { html, type TemplateResult } from "lit-html";

/** How long a button shows "Copied". */
const FEEDBACK_MS = 2500;

/** Copies the texts of fields, and shows which one was copied. */
export class Copying {
  readonly #changed: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #feedback: { readonly text: string; readonly words: string } | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The label of the button beside a text. */
  wordsFor(text: string): string {
    return this.#feedback?.text === text ? this.#feedback.words : "Copy";
  }

  /**
   * Copies the text of a field, and leaves it selected. Over http, except on localhost, browsers have no clipboard API;
   * most still support the older `execCommand`.
   */
  async copy(field: HTMLInputElement | HTMLTextAreaElement): Promise<void> {
    field.focus();
    field.select();
    const text = field.value;
    const isDone = navigator.clipboard === undefined ? document.execCommand("copy") : await this.#write(text);
    this.#feedback = { text, words: isDone ? "Copied" : "Selected" };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#forget(), FEEDBACK_MS);
    this.#changed();
  }

  /** Returns false if the browser or the user refuses; the text is still selected then. */
  async #write(text: string): Promise<boolean> {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }

  #forget(): void {
    this.#feedback = null;
    this.#changed();
  }
}

/** A read-only text with a button that copies it. */
export function copyField(name: string, value: string, copying: Copying): TemplateResult {
  const select = (event: Event) => (event.currentTarget as HTMLInputElement).select();
  return html`<label class="copy-field">
    <span>${name}</span>
    <input readonly spellcheck="false" .value=${value} @focus=${select}>
    ${copyButton(name, value, copying)}
  </label>`;
}

/** A read-only text of several lines with a button that copies it. */
export function copyLines(name: string, value: string, copying: Copying): TemplateResult {
  return html`<label class="copy-field lines">
    <span>${name}</span>
    <textarea readonly spellcheck="false" rows=${Math.min(12, value.split("\n").length)} .value=${value}></textarea>
    ${copyButton(name, value, copying)}
  </label>`;
}

function copyButton(name: string, value: string, copying: Copying): TemplateResult {
  const copy = (event: Event) => {
    event.preventDefault(); // The label would move the focus.
    const label = (event.currentTarget as HTMLElement).closest("label")!;
    void copying.copy(label.querySelector<HTMLInputElement | HTMLTextAreaElement>("input, textarea")!);
  };
  const words = copying.wordsFor(value);
  return html`<button aria-label="${words}: ${name}" @click=${copy}>${words}</button>`;
}

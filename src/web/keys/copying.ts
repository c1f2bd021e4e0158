import { html, type TemplateResult } from "lit-html";

/** How long a button says that it has copied. */
const SAID_MS = 2500;

/** Copies texts that are shown, and says which one it was. */
export class Copying {
  readonly #changed: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #said: { readonly text: string; readonly words: string } | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** What the button beside a text says. */
  wordsFor(text: string): string {
    return this.#said?.text === text ? this.#said.words : "Copy";
  }

  /**
   * Copies what a field shows, and leaves it selected. Over http, but for the machine itself, browsers have no
   * clipboard for pages; most still do as they did before it.
   */
  async copy(field: HTMLInputElement | HTMLTextAreaElement): Promise<void> {
    field.focus();
    field.select();
    const text = field.value;
    const isDone = navigator.clipboard === undefined ? document.execCommand("copy") : await this.#write(text);
    this.#said = { text, words: isDone ? "Copied" : "Selected" };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#forget(), SAID_MS);
    this.#changed();
  }

  /** Whether the browser let us. */
  async #write(text: string): Promise<boolean> {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false; // The browser or its user may refuse; the text is selected all the same.
    }
  }

  #forget(): void {
    this.#said = null;
    this.#changed();
  }
}

/** A text to take elsewhere: selectable, with a button that copies it. */
export function copyField(name: string, value: string, copying: Copying): TemplateResult {
  const select = (event: Event) => (event.currentTarget as HTMLInputElement).select();
  return html`<label class="copy-field">
    <span>${name}</span>
    <input readonly spellcheck="false" .value=${value} @focus=${select}>
    ${copyButton(name, value, copying)}
  </label>`;
}

/** A text of several lines to take elsewhere, with a button that copies it. */
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

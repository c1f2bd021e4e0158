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
      return false; // Whoever is asked may refuse; the text is selected all the same.
    }
  }

  #forget(): void {
    this.#said = null;
    this.#changed();
  }
}

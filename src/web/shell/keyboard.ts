/** The used part of a `KeyboardEvent`. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly defaultPrevented: boolean;
  /** The focused element. */
  readonly target: unknown;
}

/** The used part of an element. */
interface Focused {
  readonly tagName: string;
  readonly type?: string;
  readonly isContentEditable: boolean;
}

/** Types of `<input>` without text. */
const WITHOUT_TEXT: readonly string[] = ["button", "checkbox", "radio", "range", "submit"];

/** The keyboard shortcuts of the page, which are inactive while the user types text. Each part registers its own. */
export class Keyboard {
  readonly #actions = new Map<string, () => void>();
  readonly #closers: (() => boolean)[] = [];
  #undo: () => boolean = () => false;

  /** `key` is a value of `KeyboardEvent.key`. */
  on(key: string, action: () => void): void {
    this.#actions.set(key, action);
  }

  /** Registers a function for Esc. The last one is called first, until one returns that it has closed something. */
  onEscape(close: () => boolean): void {
    this.#closers.unshift(close);
  }

  /** Sets the function for Ctrl+Z or ⌘Z, which returns whether there was anything to undo. */
  onUndo(undo: () => boolean): void {
    this.#undo = undo;
  }

  /** Handles a key; returns whether it was a shortcut. */
  press(press: KeyPress): boolean {
    const { key, target } = press;
    if (press.defaultPrevented) return false;
    if (isUndo(press)) return !keepsKey(target as Focused | null, key) && this.#undo();
    if (isCommand(press)) return false;
    if (key === "Escape") return this.#closers.some((close) => close());
    const action = this.#actions.get(key.length === 1 ? key.toLowerCase() : key);
    if (action === undefined || keepsKey(target as Focused | null, key)) return false;
    action();
    return true;
  }

  /** Listens to the page's keys. While a dialog or a menu is open, shortcuts are inactive. */
  listen(): void {
    document.addEventListener("keydown", (event) => {
      if (document.querySelector("dialog[open], :popover-open") !== null) return;
      if (this.press(event)) event.preventDefault();
    });
  }
}

/** Characters that no keyboard needs Alt for. */
const PLAIN = /^[\p{L}\p{N}\s]/u;

/**
 * Whether the key is a command of the browser or the system. Many keyboards have `[` and `]` only on AltGr or Option,
 * which browsers report as Alt, on Windows with Ctrl, so another character with Alt was typed.
 */
function isCommand({ key, ctrlKey, metaKey, altKey }: KeyPress): boolean {
  const isTyped = altKey && !PLAIN.test(key);
  return metaKey || ((ctrlKey || altKey) && !isTyped);
}

/** A text field undoes what was typed. */
function isUndo({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): boolean {
  return key.toLowerCase() === "z" && ctrlKey !== metaKey && !altKey && !shiftKey;
}

/** Whether the focused element uses the key itself: it is a text field, or the space bar presses it. */
function keepsKey(focused: Focused | null, key: string): boolean {
  switch (focused?.tagName) {
    case "INPUT":
      return !WITHOUT_TEXT.includes(focused.type ?? "text") || key === " " || key.startsWith("Arrow");
    case "SELECT":
    case "TEXTAREA":
      return true;
    case "BUTTON":
    case "A":
    case "SUMMARY":
      return key === " ";
    default:
      return focused?.isContentEditable ?? false;
  }
}

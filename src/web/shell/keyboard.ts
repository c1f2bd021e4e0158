/** A press of a key, and where. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly defaultPrevented: boolean;
  /** What has the focus. */
  readonly target: unknown;
}

/** As much of an element as says which keys are its own. */
interface Focused {
  readonly tagName: string;
  readonly type?: string;
  readonly isContentEditable: boolean;
}

/** Types of `<input>` that take no text. */
const WITHOUT_TEXT: readonly string[] = ["button", "checkbox", "radio", "range", "submit"];

/** What keys do wherever nobody is writing. Each part says what its keys do. */
export class Keyboard {
  readonly #actions = new Map<string, () => void>();
  readonly #closers: (() => boolean)[] = [];

  /** As in `KeyboardEvent.key`. */
  on(key: string, action: () => void): void {
    this.#actions.set(key, action);
  }

  /** What Esc closes: those that were named last are asked first, until one says that it has closed something. */
  onEscape(close: () => boolean): void {
    this.#closers.unshift(close);
  }

  /** Whether the press meant something. */
  press(press: KeyPress): boolean {
    const { key, target } = press;
    if (press.defaultPrevented || isCommand(press)) return false;
    if (key === "Escape") return this.#closers.some((close) => close());
    const action = this.#actions.get(key.length === 1 ? key.toLowerCase() : key);
    if (action === undefined || keepsKey(target as Focused | null, key)) return false;
    action();
    return true;
  }

  /** Listens to the page for as long as it is open. What lies over it, a dialog or a menu, has the keys for itself. */
  listen(): void {
    document.addEventListener("keydown", (event) => {
      if (document.querySelector("dialog[open], :popover-open") !== null) return;
      if (this.press(event)) event.preventDefault();
    });
  }
}

/** What no keyboard needs Alt for. */
const PLAIN = /^[\p{L}\p{N}\s]/u;

/**
 * Whether the key is a command of the browser or the machine. Many keyboards have `[` and `]` on AltGr or Option alone,
 * and these count as Alt, with Ctrl on Windows: whatever other sign comes by them was typed.
 */
function isCommand({ key, ctrlKey, metaKey, altKey }: KeyPress): boolean {
  const isTyped = altKey && !PLAIN.test(key);
  return metaKey || ((ctrlKey || altKey) && !isTyped);
}

/** Whether what has the focus needs the key itself: text is written into it, or the space bar presses it. */
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

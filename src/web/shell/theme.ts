export type ThemeName = "light" | "dark";

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Where the user's choice is remembered. */
interface ThemeMemory {
  readonly values: { readonly theme: ThemeName | null };
  set(change: { readonly theme: ThemeName }): void;
  onChange(listener: () => void): void;
}

/** The theme of the system, or the one that the user chose. */
export class Theme {
  readonly #memory: ThemeMemory;
  readonly #changed: () => void;

  constructor(memory: ThemeMemory, changed: () => void) {
    this.#memory = memory;
    this.#changed = changed;
    DARK.addEventListener("change", () => this.#apply());
    memory.onChange(() => this.#apply());
    this.#apply();
  }

  get name(): ThemeName {
    return this.#memory.values.theme ?? (DARK.matches ? "dark" : "light");
  }

  toggle(): void {
    this.#memory.set({ theme: this.name === "dark" ? "light" : "dark" });
  }

  #apply(): void {
    const root = document.documentElement;
    root.dataset.theme = this.name;
    // Phones paint the bar above the page in this color.
    const ground = getComputedStyle(root).getPropertyValue("--ground");
    for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]'))
      meta.content = ground;
    this.#changed();
  }
}

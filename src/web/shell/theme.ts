export type ThemeName = "light" | "dark";

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** The theme of the system, until the user chooses one. The choice lasts as long as the page is open. */
export class Theme {
  readonly #changed: () => void;
  #chosen: ThemeName | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
    DARK.addEventListener("change", () => this.#apply());
    this.#apply();
  }

  get name(): ThemeName {
    return this.#chosen ?? (DARK.matches ? "dark" : "light");
  }

  toggle(): void {
    this.#chosen = this.name === "dark" ? "light" : "dark";
    this.#apply();
  }

  #apply(): void {
    document.documentElement.dataset.theme = this.name;
    this.#changed();
  }
}

import { FormatError } from "../format-error.ts";
import type { Scout } from "../xml/scouted-reading.ts";
import type { Attributes } from "../xml/start-tag.ts";
import { type XmlElements, XmlReader } from "../xml/xml-reader.ts";

/** What writers say who don't know the number of a device. */
const NO_UNIT = "0";

/**
 * What recorded the activities of a file, where it was one device alone. Each activity says so behind its points, so
 * the whole file is read for it before the first of them is handed out.
 */
export class OnlyCreator implements Scout, XmlElements {
  readonly #xml = new XmlReader(this);
  readonly #texts = new Map<string, string>();
  #device: string | null = null;
  #isDone = false;

  /** Null where nothing is known, or where there are several. */
  get device(): string | null {
    return this.#device;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  push(piece: Uint8Array): void {
    try {
      this.#xml.push(piece);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      this.#isDone = true; // Whoever reads the points says what is wrong.
    }
  }

  open(name: string, _attributes: Attributes, parent: string): boolean {
    if (name === "Creator") this.#texts.clear();
    return parent === "Creator" && (name === "Name" || name === "UnitId");
  }

  close(name: string, text: string): void {
    if (name === "Creator") this.#meet(deviceOf(this.#texts));
    else if (text !== "") this.#texts.set(name, text.trim());
  }

  #meet(device: string | null): void {
    if (this.#isDone) return;
    if (this.#device === null) this.#device = device;
    else if (device !== this.#device) {
      this.#device = null;
      this.#isDone = true;
    }
  }
}

/** The name of its kind and its number, by which two of a kind are told apart. */
function deviceOf(texts: ReadonlyMap<string, string>): string | null {
  const name = texts.get("Name") ?? "";
  const unit = texts.get("UnitId") ?? NO_UNIT;
  if (name === "") return null;
  return unit === NO_UNIT || unit === "" ? name : `${name}-${unit}`;
}

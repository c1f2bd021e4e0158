import { Buffer } from "node:buffer";

/** Characters of words: what an id must not have beside it in a text that names it. */
const OF_WORDS = /[\p{L}\p{N}_-]/u;
/** Texts have none of these. */
const CONTROLS = /[^\P{Cc}\t\n\r]/u;

/** Looks for an id in texts, values and bytes. */
export class IdSearch {
  readonly #id: string;
  /** The id as it is, and as JSON has it. */
  readonly #needles: readonly Buffer[];

  constructor(id: string) {
    this.#id = id;
    const escaped = JSON.stringify(id).slice(1, -1);
    this.#needles = [...new Set([id, escaped])].map((text) => Buffer.from(text));
  }

  /** The greatest number of bytes of the id. */
  get bytesMax(): number {
    return Math.max(...this.#needles.map(({ length }) => length));
  }

  /** Whether the text is the id, or has it as a word. */
  isIn(text: string): boolean {
    const id = this.#id;
    for (let at = text.indexOf(id); at !== -1; at = text.indexOf(id, at + 1)) {
      const isWord = !joins(text[at - 1], id[0]) && !joins(id.at(-1), text[at + id.length]);
      if (isWord) return true;
    }
    return false;
  }

  /** Whether a text of the value, or the name of a member, is the id, or bytes of it have the id. */
  isWithin(value: unknown): boolean {
    if (typeof value === "string") return this.isIn(value);
    if (value instanceof Uint8Array) return this.isInFile(value);
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
    if (Array.isArray(value)) return value.some((item) => this.isWithin(item));
    return Object.entries(value).some(([name, item]) => this.isIn(name) || this.isWithin(item));
  }

  isInBytes(bytes: Uint8Array): boolean {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return this.#needles.some((needle) => buffer.includes(needle));
  }

  /** Like `isInBytes()`; in JSON and in other text it has to be a word, since a short id is part of many. */
  isInFile(bytes: Uint8Array): boolean {
    if (!this.isInBytes(bytes)) return false;
    const text = decodeText(bytes);
    if (text === null) return true;
    try {
      return this.isWithin(JSON.parse(text));
    } catch {
      return this.isIn(text);
    }
  }
}

/** Whether two characters next to each other are in one word. */
function joins(before: string | undefined, after: string | undefined): boolean {
  return before !== undefined && after !== undefined && OF_WORDS.test(before) && OF_WORDS.test(after);
}

/** Null if the bytes are no text. */
function decodeText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return CONTROLS.test(text) ? null : text;
  } catch {
    return null;
  }
}

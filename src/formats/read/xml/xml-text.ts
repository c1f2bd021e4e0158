/** The maximum size of an XML declaration. */
const HEAD_BYTES_MAX = 1024;

/** A text that may still become a declaration. */
const UNDECIDED = /^\s*(?:<(?:\?[^>]*)?)?$/;
const DECLARED_CHARSET = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/;

/** Decodes an XML file in the charset of its declaration. Invalid bytes become U+FFFD. */
export class XmlText {
  #decoder: TextDecoder | null = null;
  #head = new Uint8Array(0);

  /** Returns the text of the next bytes; empty until the charset is known. */
  decode(bytes: Uint8Array): string {
    if (this.#decoder !== null) return this.#decoder.decode(bytes, { stream: true });
    const head = new Uint8Array(this.#head.length + bytes.length);
    head.set(this.#head);
    head.set(bytes, this.#head.length);
    this.#head = head;
    return this.#mayTellLater() ? "" : this.#decodeHead();
  }

  /** Returns the rest at the end of the file. */
  end(): string {
    const rest = this.#decoder === null ? this.#decodeHead() : "";
    return rest + this.#decoder!.decode();
  }

  #mayTellLater(): boolean {
    const { length } = this.#head;
    return length < 2 || (length < HEAD_BYTES_MAX && UNDECIDED.test(asLatin1(this.#head)));
  }

  #decodeHead(): string {
    this.#decoder = decoderOf(this.#head);
    return this.#decoder.decode(this.#head, { stream: true });
  }
}

function decoderOf(head: Uint8Array): TextDecoder {
  const declared = DECLARED_CHARSET.exec(asLatin1(head.subarray(0, HEAD_BYTES_MAX)))?.[1];
  return (declared === undefined ? null : knownDecoder(declared)) ?? new TextDecoder("utf-8");
}

/** Returns null for unknown names, and for UTF-16, which was converted before. */
function knownDecoder(charset: string): TextDecoder | null {
  try {
    const decoder = new TextDecoder(charset);
    return decoder.encoding.startsWith("utf-16") ? null : decoder;
  } catch {
    return null; // Positions are digits, which are the same in nearly all charsets.
  }
}

function asLatin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** Counts the lines of a text that arrives in chunks, on demand. */
export class LineCount {
  #text = "";
  #line = 1;
  /** The start of the line and the next line end; negative if before the chunk. */
  #lineStart = 0;
  #lineEnd = Infinity;

  /** Continues with a chunk that begins at position `at` of the former one. */
  begin(text: string, at: number): void {
    this.#text = text;
    this.#lineStart -= at;
    this.#lineEnd = this.#findLineEnd(0);
  }

  /** The line at an index, from 1. Indexes must not decrease. */
  lineAt(index: number): number {
    while (this.#lineEnd < index) {
      this.#line++;
      this.#lineStart = this.#lineEnd + 1;
      this.#lineEnd = this.#findLineEnd(this.#lineStart);
    }
    return this.#line;
  }

  /** The column at an index of the last line, from 0. */
  columnAt(index: number): number {
    return index - this.#lineStart;
  }

  #findLineEnd(from: number): number {
    const lineEnd = this.#text.indexOf("\n", from);
    return lineEnd < 0 ? Infinity : lineEnd;
  }
}

/** As much of a file as its XML declaration may take. */
const HEAD_BYTES_MAX = 1024;

/** What may become a declaration yet, blanks before it and its beginning. */
const UNDECIDED = /^\s*(?:<(?:\?[^>]*)?)?$/;
const DECLARED_CHARSET = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/;

/** Text of an XML file that comes as bytes, in the charset that its beginning tells. What is no text is U+FFFD. */
export class XmlText {
  #decoder: TextDecoder | null = null;
  #head = new Uint8Array(0);

  /** The text of the next bytes; nothing as long as too few are known to tell the charset. */
  decode(bytes: Uint8Array): string {
    if (this.#decoder !== null) return this.#decoder.decode(bytes, { stream: true });
    const head = new Uint8Array(this.#head.length + bytes.length);
    head.set(this.#head);
    head.set(bytes, this.#head.length);
    this.#head = head;
    return this.#mayTellLater() ? "" : this.#decodeHead();
  }

  /** What is left when the file has ended. */
  end(): string {
    const left = this.#decoder === null ? this.#decodeHead() : "";
    return left + this.#decoder!.decode();
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

/** Null for names that nobody knows, and for UTF-16, which no text is any more that comes here. */
function knownDecoder(charset: string): TextDecoder | null {
  try {
    const decoder = new TextDecoder(charset);
    return decoder.encoding.startsWith("utf-16") ? null : decoder;
  } catch {
    return null; // The positions are digits, which nearly all charsets write alike.
  }
}

function asLatin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** Counts the lines of a text that comes in pieces, as far as somebody asks. */
export class LineCount {
  #text = "";
  #line = 1;
  /** Where the line begins, and where the next line end is; before the piece where that is negative. */
  #lineStart = 0;
  #lineEnd = Infinity;

  /** Goes on with another piece, which begins at this place of the one before. */
  begin(text: string, at: number): void {
    this.#text = text;
    this.#lineStart -= at;
    this.#lineEnd = this.#findLineEnd(0);
  }

  /** The line at a place, from 1; never asked for a place before the last one. */
  lineAt(place: number): number {
    while (this.#lineEnd < place) {
      this.#line++;
      this.#lineStart = this.#lineEnd + 1;
      this.#lineEnd = this.#findLineEnd(this.#lineStart);
    }
    return this.#line;
  }

  /** The column at a place of the line that was asked for last, from 0. */
  columnAt(place: number): number {
    return place - this.#lineStart;
  }

  #findLineEnd(from: number): number {
    const found = this.#text.indexOf("\n", from);
    return found < 0 ? Infinity : found;
  }
}

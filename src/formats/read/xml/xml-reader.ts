import { GREATER, SLASH, SPACE } from "../../../lib/text/ascii.ts";
import { type Beginning, FormatError } from "../format.ts";
import { type Attributes, NO_ATTRIBUTES, readTagRest, withoutReferences } from "./start-tag.ts";
import { LineCount, XmlText } from "./xml-text.ts";

/** Receives the elements of a file by their local names; prefixes vary. */
export interface XmlElements {
  /** An element begins; the parent of the outermost one is "". Returns whether its text is wanted. */
  open(name: string, attributes: Attributes, parent: string): boolean;
  /** The element ends; `text` is empty if it was not wanted. */
  close(name: string, text: string): void;
}

/** An element name, with and without its prefix. */
interface ElementName {
  readonly written: string;
  readonly local: string;
  /** The element that followed the last one of this name. Points are alike, so it is a good guess for the next one. */
  next: ElementName | null;
}

/** The maximum nesting; formats need about a dozen. */
const DEPTH_MAX = 64;
/** The maximum length of a wanted text and of a tag; real ones have some hundred characters. */
const LENGTH_MAX = 1024 * 1024;
/** Bytes that are scanned together; the buffer may exceed the limit by this much. */
const STEP_BYTES = 64 * 1024;
/** The maximum number of cached names; no format has that many. */
const NAMES_MAX = 256;
const MESSAGE_NAME_MAX = 40;

/** Skipped constructs, by their start and end. */
const PASSED: readonly (readonly [beginning: string, end: string])[] = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
  ["<!", ">"],
];
const CDATA_END = "]]>";
const DECLARATION_END = ">";
const SUBSET_END = "]";

const NAME_END = /[\s/>]/g;
const DECLARATION_MARK = /[[>]/g;
/** ASCII characters that can't begin a name. */
const NO_NAME = /^[\0-9;-@[-^`{-\x7f]/;

const BANG = 0x21;
const QUESTION = 0x3f;

/**
 * Reads XML that arrives in chunks, only as far as positions need: the nesting of elements, and wanted texts. It
 * resolves no entities or external references, and skips the rest, however long it is. Throws a `FormatError` if
 * elements are not properly nested.
 */
export class XmlReader {
  readonly #elements: XmlElements;
  readonly #decoder = new XmlText();
  readonly #names = new Map<string, ElementName>();
  /** The last element that began. */
  #last: ElementName = { written: "", local: "", next: null };
  /** Open elements, outermost first. */
  readonly #open: ElementName[] = [];
  #hasRoot = false;
  /** Whether something was skipped. */
  #hasPassed = false;
  /** The depth of the element whose text is collected; 0 if none. */
  #collectedDepth = 0;
  #collected = "";
  /** The text after `#collected`, with unresolved references. */
  #raw = "";
  /** The terminator of the open comment, instruction, declaration or CDATA section; "" if none. */
  #passedEnd = "";
  /** The buffered text and the position in it. */
  #text = "";
  #at = 0;
  readonly #lines = new LineCount();

  constructor(elements: XmlElements) {
    this.#elements = elements;
  }

  /** The line of the current element, from 1. */
  get line(): number {
    return this.#lines.lineAt(this.#at);
  }

  push(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at += STEP_BYTES)
      this.#read(this.#decoder.decode(piece.subarray(at, at + STEP_BYTES)));
  }

  /** Ends the file. */
  end(): void {
    this.#read(this.#decoder.end());
    const within = this.#open.at(-1);
    if (within !== undefined) throw this.#fault(`the file is cut off within <${shortened(within.local)}>`);
    if (!this.#hasRoot)
      throw this.#fault(
        this.#isXml() ? "the file is cut off before its first element" : "the file is not XML",
      );
  }

  /** Whether a file without an element has any markup. */
  #isXml(): boolean {
    return this.#hasPassed || this.#text.startsWith("<", this.#at);
  }

  #read(more: string): void {
    this.#lines.lineAt(this.#at);
    this.#text = this.#text.slice(this.#at) + more;
    this.#lines.begin(this.#text, this.#at);
    this.#at = 0;
    while (this.#passedEnd === "" ? this.#readNext() : this.#pass());
    if (this.#text.length - this.#at > LENGTH_MAX) throw this.#tooLong();
  }

  /** Reads the next markup and the text before it; false if the buffer ends first. */
  #readNext(): boolean {
    const start = this.#text.indexOf("<", this.#at);
    this.#takeText(start < 0 ? this.#text.length : start);
    if (start < 0) return false;
    switch (this.#text.charCodeAt(start + 1)) {
      case SLASH:
        return this.#readEndTag(start + 2);
      case BANG:
      case QUESTION:
        return this.#beginPassing(start);
      default:
        return this.#readStartTag(start + 1);
    }
  }

  #takeText(end: number): void {
    if (this.#collectedDepth > 0 && end > this.#at) this.#raw += this.#text.slice(this.#at, end);
    this.#at = end;
    if (this.#raw.length + this.#collected.length > LENGTH_MAX) throw this.#tooLong();
  }

  #readStartTag(nameStart: number): boolean {
    const text = this.#text;
    const name = this.#nameAt(nameStart);
    if (name === null) return false;
    let end = nameStart + name.written.length;
    let attributes = NO_ATTRIBUTES;
    let isEmpty = false;
    if (text.charCodeAt(end) === GREATER) end++;
    else {
      const rest = readTagRest(text, end);
      if (rest === null) return false;
      if (rest === "unreadable") throw this.#fault(`<${shortened(name.local)}> is not a valid tag`);
      ({ attributes, isEmpty, end } = rest);
    }
    this.#last = name;
    this.#begin(name, attributes);
    this.#at = end;
    if (isEmpty) this.#end();
    return true;
  }

  /** Returns null if the buffer ends first. */
  #nameAt(start: number): ElementName | null {
    const text = this.#text;
    // Most names are as guessed, and need no lookup.
    const guess = this.#last.next;
    if (guess !== null && text.startsWith(guess.written, start)) {
      const behind = text.charCodeAt(start + guess.written.length);
      if (behind <= SPACE || behind === GREATER || behind === SLASH) return guess;
    }
    NAME_END.lastIndex = start;
    if (!NAME_END.test(text)) return null;
    const written = text.slice(start, NAME_END.lastIndex - 1);
    const known = this.#names.get(written);
    if (known === undefined) return this.#newName(written);
    this.#last.next = known;
    return known;
  }

  #newName(written: string): ElementName {
    if (written === "" || NO_NAME.test(written)) throw this.#fault("a < begins no element");
    const name = { written, local: written.slice(written.lastIndexOf(":") + 1), next: null };
    if (this.#names.size < NAMES_MAX) this.#names.set(written, name);
    return name;
  }

  #readEndTag(nameStart: number): boolean {
    const end = this.#text.indexOf(">", nameStart);
    if (end < 0) return false;
    const due = this.#open.at(-1)?.written ?? "";
    const isDue = end - nameStart === due.length && this.#text.startsWith(due, nameStart);
    if (!isDue || due === "") {
      const written = this.#text.slice(nameStart, end).trimEnd();
      if (written !== due || due === "") throw this.#fault(`</${shortened(written)}> ends no open element`);
    }
    this.#at = end + 1;
    this.#end();
    return true;
  }

  #begin(name: ElementName, attributes: Attributes): void {
    const parent = this.#open.at(-1)?.local ?? "";
    this.#hasRoot = true;
    if (this.#open.push(name) > DEPTH_MAX)
      throw this.#fault(`more than ${DEPTH_MAX} elements lie within each other`);
    const isWanted = this.#elements.open(name.local, attributes, parent);
    if (isWanted && this.#collectedDepth === 0) this.#collectedDepth = this.#open.length;
  }

  #end(): void {
    let text = "";
    if (this.#collectedDepth === this.#open.length) {
      text = this.#collected + withoutReferences(this.#raw);
      this.#collectedDepth = 0;
      this.#collected = "";
      this.#raw = "";
    }
    this.#elements.close(this.#open.pop()!.local, text);
  }

  /** Returns false if the buffer ends before the kind is clear. */
  #beginPassing(start: number): boolean {
    const text = this.#text;
    for (const [beginning, end] of PASSED) {
      if (text.startsWith(beginning, start)) {
        this.#passedEnd = end;
        this.#hasPassed = true;
        this.#at = start + beginning.length;
        return true;
      }
      if (text.length - start < beginning.length && beginning.startsWith(text.slice(start))) return false;
    }
    return false;
  }

  /** Skips the open construct; false if the buffer ends first. */
  #pass(): boolean {
    const end = this.#passedEnd;
    if (end === DECLARATION_END) return this.#passDeclaration();
    const index = this.#text.indexOf(end, this.#at);
    // Keeps what may be the start of the terminator.
    const to = index < 0 ? Math.max(this.#at, this.#text.length - end.length + 1) : index;
    if (end === CDATA_END && this.#collectedDepth > 0) this.#takeSection(to);
    this.#at = to;
    if (index < 0) return false;
    this.#at += end.length;
    this.#passedEnd = end === SUBSET_END ? DECLARATION_END : "";
    return true;
  }

  /** A DOCTYPE has its declarations in brackets. */
  #passDeclaration(): boolean {
    DECLARATION_MARK.lastIndex = this.#at;
    const mark = DECLARATION_MARK.exec(this.#text);
    this.#at = mark === null ? this.#text.length : DECLARATION_MARK.lastIndex;
    if (mark === null) return false;
    this.#passedEnd = mark[0] === "[" ? SUBSET_END : "";
    return true;
  }

  /** Collects text of a CDATA section, which has no references. */
  #takeSection(end: number): void {
    this.#collected += withoutReferences(this.#raw) + this.#text.slice(this.#at, end);
    this.#raw = "";
    if (this.#collected.length > LENGTH_MAX) throw this.#tooLong();
  }

  #tooLong(): FormatError {
    return this.#fault("a text or tag is longer than any that positions have");
  }

  #fault(what: string): FormatError {
    const line = this.line;
    return new FormatError(`line ${line}, column ${this.#lines.columnAt(this.#at)}: ${what}`);
  }
}

function shortened(name: string): string {
  return name.length > MESSAGE_NAME_MAX ? `${name.slice(0, MESSAGE_NAME_MAX)}…` : name;
}

/** Bytes to read between two checks for the root element. */
const ROOT_STEP_BYTES = 4096;

/** The local name of the root element; null if the file is not XML, or the beginning too short. */
export function rootNameOf({ bytes, text }: Pick<Beginning, "bytes" | "text">): string | null {
  if (!text.startsWith("<")) return null; // Other files may contain XML.
  let root: string | null = null;
  const reader = new XmlReader({
    open(name) {
      root ??= name;
      return false;
    },
    close() {},
  });
  try {
    for (let at = 0; at < bytes.length && root === null; at += ROOT_STEP_BYTES)
      reader.push(bytes.subarray(at, at + ROOT_STEP_BYTES));
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
  }
  return root;
}

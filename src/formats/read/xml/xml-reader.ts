import { GREATER, SLASH, SPACE } from "../../../lib/text/ascii.ts";
import { type Beginning, FormatError } from "../format.ts";
import { type Attributes, NO_ATTRIBUTES, readTagRest, withoutReferences } from "./start-tag.ts";
import { LineCount, XmlText } from "./xml-text.ts";

/** What is told of the elements of a file, by their local names: writers choose prefixes as they like. */
export interface XmlElements {
  /** An element begins, in another one; the outermost is in "". Returns whether its text is wanted. */
  open(name: string, attributes: Attributes, parent: string): boolean;
  /** It ends; the text is empty where it was not wanted. */
  close(name: string, text: string): void;
}

/** A name that elements have, as it is written and without its prefix. */
interface ElementName {
  readonly written: string;
  readonly local: string;
  /** What began after the last element of this name. Points are alike, so the next one's mostly has the same name. */
  next: ElementName | null;
}

/** No format has elements that lie deeper than some dozen others. */
const DEPTH_MAX = 64;
/** Characters of a text that is wanted, and of a tag; none has more than some hundred. */
const LENGTH_MAX = 1024 * 1024;
/** Bytes that are looked at together; so much more than the bounds is held. */
const STEP_BYTES = 64 * 1024;
/** Names that are remembered; no format has as many. */
const NAMES_MAX = 256;
const MESSAGE_NAME_MAX = 40;

/** What is passed over, by how it begins and ends. */
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
/** ASCII that no name begins with. */
const NO_NAME = /^[\0-9;-@[-^`{-\x7f]/;

const BANG = 0x21;
const QUESTION = 0x3f;

/**
 * Reads XML that comes in pieces, no further than positions need: which element lies in which, and the texts that are
 * wanted. Nothing is followed and no entity looked up, and what nobody wants is passed over, however long it is. Throws
 * a `FormatError` where elements don't lie within each other.
 */
export class XmlReader {
  readonly #elements: XmlElements;
  readonly #decoder = new XmlText();
  readonly #names = new Map<string, ElementName>();
  /** What began last. */
  #last: ElementName = { written: "", local: "", next: null };
  /** Elements that have begun, outermost first. */
  readonly #open: ElementName[] = [];
  #hasRoot = false;
  /** Whether something was passed over. */
  #hasPassed = false;
  /** How many were open with the one whose text is being collected; 0 where none is. */
  #collectedDepth = 0;
  #collected = "";
  /** Behind what is collected, as it is written. */
  #raw = "";
  /** The end of the comment, instruction, declaration or CDATA section that is open; "" where none is. */
  #passedEnd = "";
  /** What has come and is not read, from a place on. */
  #text = "";
  #at = 0;
  readonly #lines = new LineCount();

  constructor(elements: XmlElements) {
    this.#elements = elements;
  }

  /** The line of what is being told, from 1. */
  get line(): number {
    return this.#lines.lineAt(this.#at);
  }

  push(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at += STEP_BYTES)
      this.#read(this.#decoder.decode(piece.subarray(at, at + STEP_BYTES)));
  }

  /** The file has ended. */
  end(): void {
    this.#read(this.#decoder.end());
    const within = this.#open.at(-1);
    if (within !== undefined) throw this.#fault(`the file is cut off within <${shown(within.local)}>`);
    if (!this.#hasRoot)
      throw this.#fault(
        this.#isXml() ? "the file is cut off before its first element" : "the file is no XML",
      );
  }

  /** Whether any mark-up has come, of a file without an element. */
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

  /** Reads up to the next mark-up and what it is; false where the text ends before that does. */
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
      if (rest === "unreadable") throw this.#fault(`<${shown(name.local)}> can't be read to its end`);
      ({ attributes, isEmpty, end } = rest);
    }
    this.#last = name;
    this.#begin(name, attributes);
    this.#at = end;
    if (isEmpty) this.#end();
    return true;
  }

  /** Null where the text ends before the name does. */
  #nameAt(start: number): ElementName | null {
    const text = this.#text;
    // Most names are the ones that are due: none is cut out and looked up.
    const due = this.#last.next;
    if (due !== null && text.startsWith(due.written, start)) {
      const behind = text.charCodeAt(start + due.written.length);
      if (behind <= SPACE || behind === GREATER || behind === SLASH) return due;
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
      if (written !== due || due === "")
        throw this.#fault(`</${shown(written)}> ends no element that is open`);
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

  /** False where the text ends before it tells which of them begins. */
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

  /** Passes over what is open; false where the text ends before that does. */
  #pass(): boolean {
    const end = this.#passedEnd;
    if (end === DECLARATION_END) return this.#passDeclaration();
    const found = this.#text.indexOf(end, this.#at);
    // What may be the beginning of the end comes again.
    const to = found < 0 ? Math.max(this.#at, this.#text.length - end.length + 1) : found;
    if (end === CDATA_END && this.#collectedDepth > 0) this.#takeSection(to);
    this.#at = to;
    if (found < 0) return false;
    this.#at += end.length;
    this.#passedEnd = end === SUBSET_END ? DECLARATION_END : "";
    return true;
  }

  /** What a DOCTYPE declares lies in brackets. */
  #passDeclaration(): boolean {
    DECLARATION_MARK.lastIndex = this.#at;
    const mark = DECLARATION_MARK.exec(this.#text);
    this.#at = mark === null ? this.#text.length : DECLARATION_MARK.lastIndex;
    if (mark === null) return false;
    this.#passedEnd = mark[0] === "[" ? SUBSET_END : "";
    return true;
  }

  /** Text of a CDATA section, which has no references. */
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

function shown(name: string): string {
  return name.length > MESSAGE_NAME_MAX ? `${name.slice(0, MESSAGE_NAME_MAX)}…` : name;
}

/** Bytes that are looked at before it is asked whether the element has come. */
const ROOT_STEP_BYTES = 4096;

/** The local name of the element that holds all others; null where a file is no XML, or its beginning too short. */
export function rootNameOf({ bytes, text }: Pick<Beginning, "bytes" | "text">): string | null {
  if (!text.startsWith("<")) return null; // Much else holds XML somewhere.
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

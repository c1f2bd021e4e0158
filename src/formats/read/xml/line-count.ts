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

/** Headers by name, each in lower case. */
export type MoreHeaders = Readonly<Record<string, string>>;

/** A browser that is made to show an answer as a page guesses no type, runs nothing in it, and frames it nowhere. */
export const HARMLESS: MoreHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/**
 * Headers to write over, one object for each set of names that answers have: setting those that differ costs half
 * of making eight headers anew, which was a fifth of a short answer's time.
 */
export class HeaderTemplates {
  readonly #byNames = new Map<string, Headers>();

  of(more: MoreHeaders, isCompressible: boolean): Headers {
    let names = isCompressible ? "+" : "";
    for (const name in more) names += name;
    let headers = this.#byNames.get(names);
    if (headers === undefined) {
      headers = new Headers({
        "content-type": "application/json",
        "cache-control": "no-store",
        ...HARMLESS,
      });
      if (isCompressible) headers.set("vary", "Accept-Encoding");
      this.#byNames.set(names, headers);
    }
    return headers;
  }
}

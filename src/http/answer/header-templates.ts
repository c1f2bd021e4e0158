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
  readonly #compressible: Template = { headers: null, byNextName: new Map() };
  readonly #plain: Template = { headers: null, byNextName: new Map() };

  of(more: MoreHeaders, isCompressible: boolean): Headers {
    let template = isCompressible ? this.#compressible : this.#plain;
    for (const name in more) {
      let next = template.byNextName.get(name);
      if (next === undefined) {
        next = { headers: null, byNextName: new Map() };
        template.byNextName.set(name, next);
      }
      template = next;
    }
    template.headers ??= createHeaders(isCompressible);
    return template.headers;
  }
}

/** Found name by name: a text of all of them would be made, and hashed, for each answer. */
interface Template {
  headers: Headers | null;
  readonly byNextName: Map<string, Template>;
}

function createHeaders(isCompressible: boolean): Headers {
  const headers = new Headers({
    "content-type": "application/json",
    "cache-control": "no-store",
    ...HARMLESS,
  });
  if (isCompressible) headers.set("vary", "Accept-Encoding");
  return headers;
}

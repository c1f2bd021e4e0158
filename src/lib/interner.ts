/** Texts kept once and named by small numbers from 1; 0 is free to mean "none". Nothing is ever forgotten. */
export interface Interner {
  intern(text: string): number;
  /** The number of a text, or 0 where it was never interned. */
  find(text: string): number;
  text(id: number): string;
}

export function createInterner(): Interner {
  const texts: string[] = [""];
  const ids = new Map<string, number>();
  return {
    intern(text) {
      const known = ids.get(text);
      if (known !== undefined) return known;
      texts.push(text);
      ids.set(text, texts.length - 1);
      return texts.length - 1;
    },
    find: (text) => ids.get(text) ?? 0,
    text: (id) => texts[id]!,
  };
}

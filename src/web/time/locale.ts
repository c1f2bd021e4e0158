/** Of a browser's language: the page is in English, with dates and clocks in the manner of the reader's region. */
export function localeOf(language: string): Intl.Locale {
  const { region } = new Intl.Locale(language).maximize();
  return new Intl.Locale("en", { region: region ?? "US", calendar: "gregory", numberingSystem: "latn" });
}

export const LOCALE = localeOf(globalThis.navigator?.language ?? "en-US");

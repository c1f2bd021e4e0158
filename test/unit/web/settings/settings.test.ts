import { describe, expect, test } from "bun:test";
import { AUTOMATIC, parseSettings, Settings } from "../../../../src/web/settings/settings.ts";

/** A browser that remembers, as far as it may. */
function createBrowser({ language = "en-GB", stored = null as string | null } = {}) {
  const memory = { text: stored };
  const window = {
    navigator: { language },
    localStorage: {
      getItem: () => memory.text,
      setItem: (_: string, text: string) => {
        memory.text = text;
      },
    },
  };
  return { memory, window };
}

describe("settings", () => {
  test("are the browser's until the user chooses, and are there on the next visit", () => {
    const { memory, window } = createBrowser();
    const settings = new Settings(window);
    expect([settings.values, settings.units, memory.text]).toEqual([AUTOMATIC, "miles", null]);
    let changes = 0;
    settings.onChange(() => changes++);
    settings.set({ units: "metric", hourCycle: "h12" });
    settings.set({ zone: "Asia/Tokyo", weekStart: 0, theme: "dark" });
    expect([settings.units, changes]).toEqual(["metric", 2]);
    const next = new Settings(window);
    expect(next.values).toEqual({
      units: "metric",
      zone: "Asia/Tokyo",
      hourCycle: "h12",
      weekStart: 0,
      theme: "dark",
      tracks: null,
      accuracyMax: null,
    });
    next.set({ units: null });
    expect(next.units).toBe("miles");
    expect(new Settings(createBrowser({ language: "de" }).window).units).toBe("metric");
  });

  test("work without storage, with a full one, and with one that may not be touched", () => {
    const full = createBrowser().window;
    full.localStorage.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    const forbidden = {
      navigator: { language: "en-GB" },
      get localStorage(): Storage {
        throw new DOMException("forbidden", "SecurityError");
      },
    };
    for (const window of [full, forbidden]) {
      const settings = new Settings(window);
      settings.set({ units: "metric" });
      expect(settings.units).toBe("metric");
    }
  });

  test("that are stored in part or not at all are read as far as they are valid", () => {
    for (const text of [null, "", "{", "null", "7", "[]", '"x"', '{"units":7,"zone":[],"theme":"pink"}'])
      expect(parseSettings(text)).toEqual(AUTOMATIC);
    const text = '{"units":"furlongs","zone":"Asia/Tokyo","hourCycle":"h24","weekStart":1,"other":1}';
    expect(parseSettings(text)).toEqual({ ...AUTOMATIC, zone: "Asia/Tokyo", weekStart: 1 });
    expect(new Settings(createBrowser({ stored: "{" }).window).values).toEqual(AUTOMATIC);
  });
});

import { expect } from "bun:test";
import { store } from "../runtime/support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { describePage, type Stage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/* Nobody is kept out: axe has nothing against any state of the page, by day and by night, on a desk and on a phone. */

type State = readonly [name: string, show: (visit: Visit, stage: Stage) => Promise<unknown>];

const DAY_MS = 86_400_000;

const SIGN_IN: State = [
  "sign-in",
  async (visit) => {
    await visit.goto("/map");
    await visit.page.getByLabel("Key", { exact: true }).waitFor();
  },
];

const EMPTY: State = [
  "empty",
  async (visit, { key }) => {
    await visit.enter(key);
    await visit.page.getByText("No device has reported yet.").first().waitFor({ state: "attached" });
  },
];

const LIVE: State = [
  "live",
  async (visit, { key }) => {
    await visit.enter(key);
    await visit.page.getByText("Live", { exact: true }).waitFor();
    await visit.page.locator(".map-canvas canvas").waitFor();
  },
];

const DEVICE: State = [
  "device",
  async (visit, { key }) => {
    await visit.enter(key, "/map?device=van-1");
    await visit.page.getByText(/\d+ reports/).waitFor({ state: "attached" });
    await visit.page.locator("time-plot canvas").waitFor({ state: "attached" });
  },
];

const HELP: State = [
  "help",
  async (visit, stage) => {
    await LIVE[1](visit, stage);
    await visit.page.keyboard.press("?");
    await visit.page.getByRole("dialog").waitFor();
  },
];

const LOOKS = (["light", "dark"] as const).flatMap((colorScheme) =>
  [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ].map((viewport) => ({ colorScheme, viewport })),
);

function tryStates(stage: Stage, states: readonly State[]): void {
  for (const [name, show] of states) {
    stage.test(
      `${name} breaks no rule of axe, by day and by night, on a desk and on a phone`,
      async (visit, page) => {
        await show(visit, stage);
        for (const { colorScheme, viewport } of LOOKS) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize(viewport);
          await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
          expect(await violationsOf(page), `${colorScheme}, ${viewport.width} pixels`).toEqual([]);
        }
      },
    );
  }
}

describePage("access to an empty server", (stage) => tryStates(stage, [SIGN_IN, EMPTY]));

describePage("access", (stage) => tryStates(stage, [LIVE, DEVICE, HELP]), {
  prepare: ({ client }) => {
    const nowMs = Date.now();
    const ages = [0, 10 * 60_000, 5 * 3_600_000, 3 * DAY_MS];
    const others = ages.map((ageMs, index) => ({
      device_id: `other-${index}`,
      timestamp: nowMs - ageMs,
      latitude: 51.5 + index / 100,
      longitude: -0.1,
    }));
    const drive = Array.from({ length: 60 }, (_, index) => ({
      device_id: "van-1",
      timestamp: nowMs - index * 10_000,
      latitude: 51.5,
      longitude: -0.1 + index / 1000,
      speed: 10,
      battery_level: 81,
      altitude: 12,
    }));
    return store(client, [...others, ...drive]);
  },
});

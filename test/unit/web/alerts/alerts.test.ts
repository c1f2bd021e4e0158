import { expect, test } from "bun:test";
import { Alerts } from "../../../../src/web/alerts/alerts.ts";
import { turns } from "../../../support/turns.ts";
import { fenceMap, fenceServer } from "../fences/fence-server.ts";

function open() {
  const server = fenceServer();
  const { map, drawn } = fenceMap();
  const alerts = new Alerts({
    ...{ api: server.api, zones: { zone: "UTC" }, settings: { units: "metric" }, mayManage: () => true },
    map: { ...map, fit: () => undefined },
    table: { ids: ["van"], labels: ["Van"], size: 1, labelOf: (id) => id },
    changed: () => undefined,
  });
  return { ...server, alerts, drawn };
}

const ALERT = { id: "a/b", speed_above: 10, active: true };

test("a draft is previewed, saved and then shown; Esc goes back one step at a time", async () => {
  const { alerts, asked } = open();
  alerts.begin();
  expect(alerts.previewed).toBeNull();
  alerts.editor.set({ limit: "36" }, "speed_above");
  alerts.devices.add("van");
  expect(alerts.previewed).toEqual({ speed_above: 10, active: true, devices: ["van"] });
  void alerts.preview.run(alerts.previewed);
  expect(asked.at(-1)!.path).toStartWith("/api/v1/alerts/preview?");
  expect(JSON.parse(String(asked.at(-1)!.init.body))).toEqual(alerts.previewed);
  expect(alerts.escape()).toBeTrue();
  expect([alerts.preview.state, alerts.editor.draft?.limit]).toEqual(["idle", "36"]);
  void alerts.editor.save();
  expect([asked.at(-1)!.init.method, asked.at(-1)!.path]).toEqual(["POST", "/api/v1/alerts"]);
  asked.at(-1)!.answer({ alert: ALERT });
  await turns();
  expect([alerts.chosen, alerts.list.items]).toEqual([ALERT, [ALERT]]);
  expect([alerts.escape(), alerts.chosen, alerts.escape()]).toEqual([true, null, false]);
});

test("an alert is replaced and deleted by its id", async () => {
  const { alerts, asked } = open();
  alerts.choose(ALERT);
  alerts.edit();
  alerts.editor.set({ name: "Fast" }, "name");
  void alerts.editor.save();
  expect([asked.at(-1)!.init.method, asked.at(-1)!.path]).toEqual(["PUT", "/api/v1/alerts/a%2Fb"]);
  asked.at(-1)!.answer({ alert: { ...ALERT, name: "Fast" } });
  await turns();
  expect(alerts.chosen?.name).toBe("Fast");
  alerts.edit();
  void alerts.editor.delete();
  expect([asked.at(-1)!.init.method, asked.at(-1)!.path]).toEqual(["DELETE", "/api/v1/alerts/a%2Fb"]);
  asked.at(-1)!.answer({});
  await turns();
  expect([alerts.chosen, alerts.list.items]).toEqual([null, []]);
});

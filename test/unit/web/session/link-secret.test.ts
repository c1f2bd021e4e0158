import { expect, test } from "bun:test";
import { LinkSecret, type LinkWindow } from "../../../../src/web/session/link-secret.ts";

/** A tab; `load` opens an address in it, and `reload` the one that it shows. */
function openTab({ hasStorage = true } = {}) {
  const stored = new Map<string, string>();
  let shown = new URL("https://host/");
  const window: LinkWindow = {
    get location() {
      return shown;
    },
    history: {
      replaceState(_state: unknown, _title: string, path: string) {
        shown = new URL(path, shown);
      },
    } as History,
    get sessionStorage() {
      if (!hasStorage) throw new DOMException("Access is denied.", "SecurityError");
      return {
        getItem: (name: string) => stored.get(name) ?? null,
        setItem: (name: string, text: string) => void stored.set(name, text),
        removeItem: (name: string) => void stored.delete(name),
      };
    },
  };
  return {
    load(path: string) {
      shown = new URL(path, shown);
      return new LinkSecret(window, shown.pathname === "/map/s" ? "share" : "map");
    },
    reload() {
      return this.load(shown.href);
    },
    stored,
    get address() {
      return shown.pathname + shown.search + shown.hash;
    },
  };
}

test("a link's secret leaves the address at once, and lasts over reloads until there is an answer", () => {
  const tab = openTab();
  expect(tab.load("/map/s?zone=UTC#wh_secret").take()).toEqual({ share: "wh_secret" });
  expect(tab.address).toBe("/map/s?zone=UTC");
  const again = tab.reload();
  expect(again.take()).toEqual({ share: "wh_secret" });
  again.forget();
  expect([tab.address, tab.stored.size]).toEqual(["/map/s?zone=UTC", 0]);
  expect(tab.reload().take()).toBeNull();
});

test("a code is for the map alone, and the next link takes the place of the one before", () => {
  const tab = openTab();
  expect(tab.load("/map#code=c1.first").take()).toEqual({ code: "c1.first" });
  expect(tab.load("/map/s").take()).toBeNull();
  expect(tab.load("/map#code=c1.second").take()).toEqual({ code: "c1.second" });
  expect(tab.reload().take()).toEqual({ code: "c1.second" });
  expect(tab.load("/map#code=").take()).toEqual({ code: "c1.second" });
});

test("without storage the secret waits in the address, and leaves it with the answer", () => {
  const tab = openTab({ hasStorage: false });
  expect(tab.load("/map/s#wh_secret").take()).toEqual({ share: "wh_secret" });
  const again = tab.reload();
  expect(again.take()).toEqual({ share: "wh_secret" });
  again.forget();
  expect([tab.address, tab.reload().take()]).toEqual(["/map/s", null]);
});

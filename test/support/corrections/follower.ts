import { compareUtf8 } from "../../../src/lib/text/utf8.ts";
import { EventReader } from "../event-reader.ts";
import type { JsonObject, TestApp } from "../test-app.ts";

/** A client that holds the current positions of an app, and keeps them up to date by the live stream. */
export class Follower {
  #positions = new Map<string, JsonObject>();
  #since = "0";

  /** Reads what the stream says since the last time; returns all positions, by device. */
  async follow(app: TestApp): Promise<readonly JsonObject[]> {
    const headers = { authorization: `Bearer ${app.keys.full}` };
    const response = await app.fetch(`/api/v1/live?since=${this.#since}`, { headers });
    const text = await new EventReader(response).untilRecordOrQuiet();
    for (const event of text.split("\n\n").slice(0, -1)) await this.#take(event, app);
    return [...this.#positions].sort(([a], [b]) => compareUtf8(a, b)).map(([, position]) => position);
  }

  async #take(event: string, app: TestApp): Promise<void> {
    const lines = event.split("\n").map((line) => /^([a-z]*): ?(.*)$/.exec(line)?.slice(1) ?? []);
    const { event: type, id, data } = Object.fromEntries(lines) as Readonly<Record<string, string>>;
    if (id !== undefined) this.#since = id;
    if (type === "reset") {
      this.#positions.clear();
      this.#add((await app.get("/api/v1/locations/current?limit=1000")).body.locations);
    } else if (data !== undefined) {
      const { device_id, locations = [] } = JSON.parse(data);
      if (type === "removed") this.#positions.delete(device_id);
      else this.#add(locations);
    }
  }

  #add(locations: readonly JsonObject[]): void {
    for (const location of locations) this.#positions.set(String(location.device_id), location);
  }
}

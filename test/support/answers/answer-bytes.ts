import type { TestApp } from "../test-app.ts";

/** The bytes of an answer without parts that may differ: `query_info`, `total_estimated`, `sequence`, and durations. */
export async function answerBytes(app: Pick<TestApp, "fetch" | "keys">, path: string): Promise<string> {
  const response = await app.fetch(path, { headers: { authorization: `Bearer ${app.keys.full}` } });
  const comparable = (await response.text())
    .replace(/"query_info":\{"time_range":\{[^}]*\}[^}]*\}/, "")
    .replace(/"total_estimated":\d+/, "")
    .replace(/"total_candidates":\d+/, "") // One index may still know a removed device.
    .replace(/"query_time_ms":[\d.]+/, "")
    .replace(/"sequence":\d+/, "");
  return `${response.status} ${comparable}`;
}

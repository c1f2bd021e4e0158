import type { Visit } from "../../../test/system/browser/support/visit.ts";

/** Connects a phone as OwnTracks on the page, sends a report, and returns the milliseconds until the page names it. */
export async function namePhone({ page }: Visit, name: string): Promise<number> {
  const another = page.getByRole("button", { name: "Connect another" });
  if (await another.isVisible()) await another.click();
  await page.getByLabel("Name of the device").fill(name);
  await page.getByRole("button", { name: "Make its settings" }).click();
  const link = (await page.getByRole("link", { name: "Open OwnTracks" }).getAttribute("href"))!;
  const inline = new URL(link).searchParams.get("inline")!;
  const { url, username, password } = JSON.parse(Buffer.from(inline, "base64").toString()) as Record<
    string,
    string
  >;
  const startMs = performance.now();
  const response = await fetch(url!, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Basic ${btoa(`${username}:${password}`)}`,
    },
    body: JSON.stringify({ _type: "location", lat: 51.5, lon: -0.12, tst: Math.floor(Date.now() / 1000) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  await page.getByText(`${name} reported`).waitFor();
  return performance.now() - startMs;
}

import { openHttpClient } from "../http-client.ts";
import { getRequest } from "../load.ts";
import { median } from "../report.ts";
import type { Questions } from "./wrk.ts";

/** Questions whose answers are alike in size. */
export interface Sized extends Questions {
  /** Of the median answer. */
  readonly answerBytes: number;
}

/** Asks every question once; all must have status 200. */
export async function sized(url: string, { paths, headers }: Questions): Promise<Sized> {
  const client = await openHttpClient(url);
  const sizes: number[] = [];
  for (const path of paths) sizes.push((await client.ask(getRequest(url + path, headers))).length);
  client.close();
  return { paths, headers, answerBytes: median(sizes) };
}

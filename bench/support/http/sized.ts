import { median } from "../figures/report.ts";
import { openHttpClient } from "../servers/http-client.ts";
import { getRequest } from "../servers/load.ts";
import type { Questions } from "./wrk.ts";

/** Queries with answers of similar size. */
export interface Sized extends Questions {
  /** The size of the median answer. */
  readonly answerBytes: number;
}

/** A sample is enough: answers of one kind differ little. */
const ASKED_MAX = 100;

/** Sends some of the queries once; all must have status 200. */
export async function sized(url: string, { paths, headers }: Questions): Promise<Sized> {
  const client = await openHttpClient(url);
  const sizes: number[] = [];
  for (const path of paths.slice(0, ASKED_MAX))
    sizes.push((await client.ask(getRequest(url + path, headers))).length);
  client.close();
  return { paths, headers, answerBytes: median(sizes) };
}

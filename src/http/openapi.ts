import { type AnyElysia, Elysia } from "elysia";
import { describeDocument } from "./schema/describe-document.ts";

/*
 * The one file that knows `@elysiajs/swagger`. The plugin collects the routes and their `detail`s. What it makes
 * of route schemas is not valid OpenAPI, so our routes have none; its page, which loads scripts from other
 * hosts, is never asked for.
 */

const DOCUMENT_PATH = "/document";

/** The OpenAPI document of an app's routes, without those whose `detail` hides them. */
export async function createOpenApiDocument(app: AnyElysia, version: string): Promise<object> {
  // Loaded here, since it brings its page along: 10 ms that a start can do without.
  const { swagger } = await import("@elysiajs/swagger");
  const collector = new Elysia().use(
    swagger({ path: "/page", specPath: DOCUMENT_PATH, documentation: describeDocument(version) }),
  );
  for (const { method, path, hooks } of app.routes) {
    collector.route(method, path, "", { detail: hooks.detail });
  }
  const response = await collector.handle(new Request(`http://localhost${DOCUMENT_PATH}`));
  return (await response.json()) as object;
}

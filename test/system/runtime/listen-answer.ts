/** Longer than a server takes to hear that it should stop. */
const SLOW_MS = 800;

/** Longer than the idle timeout of the tests, also where a runtime looks only every few seconds. */
export const SLOWEST_MS = 6000;

/** Answers at once, after a moment (`/slow`), after many (`/slowest`), or never (`/hang`). */
export function answer(request: Request): Response | Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/slow") {
    return new Promise((resolve) => setTimeout(() => resolve(new Response("slow")), SLOW_MS));
  }
  if (pathname === "/slowest") {
    return new Promise((resolve) => setTimeout(() => resolve(new Response("slowest")), SLOWEST_MS));
  }
  return pathname === "/hang" ? new Promise(() => {}) : new Response("quick");
}

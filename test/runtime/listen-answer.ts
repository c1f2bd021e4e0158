/** Answers at once, after a moment (`/slow`), or never (`/hang`). */
export function answer(request: Request): Response | Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/slow") {
    return new Promise((resolve) => setTimeout(() => resolve(new Response("slow")), 300));
  }
  return pathname === "/hang" ? new Promise(() => {}) : new Response("quick");
}

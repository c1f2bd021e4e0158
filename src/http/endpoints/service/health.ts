import { openEndpoint } from "../../endpoint.ts";
import { always, amount, object, text, type ValueOf } from "../../shapes/shape.ts";

const answer = object({
  status: always("ok"),
  version: text("Version of the server."),
  uptime_seconds: amount("Seconds since it started."),
});

export const health = openEndpoint({
  operationId: "getHealth",
  tag: "Service",
  summary: "Whether the server runs",
  description: "Answers as soon as the process listens.",
  path: "/health",
  answer: {
    name: "Health",
    description: "The server runs.",
    shape: answer,
    example: { status: "ok", version: "0.2.0", uptime_seconds: 86_400.5 },
  },
  open({ clock, version }, responder) {
    const startedMs = clock.nowMs();
    return (request) => {
      const uptime_seconds = Math.max(0, clock.nowMs() - startedMs) / 1000;
      const body: ValueOf<typeof answer> = { status: "ok", version, uptime_seconds };
      return responder.object(request, 200, body);
    };
  },
});

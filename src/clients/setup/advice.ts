import type { Setup, SetupRequest } from "./setup.ts";

/** What is wise about any app that is set up so, in sentences. */
export function adviceFor(setup: Setup, request: SetupRequest): string[] {
  const advice: string[] = [];
  const { serverUrl, key, deviceId, userId } = request;
  if (setup.isOneDevice && deviceId === null)
    advice.push(
      "The key is not bound to a device, so whoever gets it can report as any: add --device and --user.",
    );
  if (!setup.isOneDevice && (deviceId !== null || userId !== null))
    advice.push("The key is bound, so everything that comes from there counts as one device or user.");
  if (setup.fields.some(({ value }) => value.includes(`/k/${key}`)))
    advice.push("The key is in the URL, so logs of proxies and browsers may keep it: use it for this alone.");
  if (serverUrl.startsWith("http:"))
    advice.push("http is not encrypted: on the way anybody can read key and positions.");
  if (LOOPBACK.test(serverUrl))
    advice.push("A phone can't reach this address: it means the phone itself there.");
  return advice;
}

const LOOPBACK = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(?=[:/]|$)/;

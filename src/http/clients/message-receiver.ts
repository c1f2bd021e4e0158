import type { KeyRecord } from "../../auth/key-file.ts";
import type { ClientAnswer, ClientMessage } from "../../clients/client.ts";
import type { Content } from "../../clients/content.ts";
import type { Sender } from "../../clients/identity.ts";
import { readContent } from "../../clients/read-content.ts";
import type { SpeedUnit } from "../../clients/reading/speed.ts";
import { isFile, isFileByType } from "../../clients/uploaded-file.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import { bodiesOf } from "../../service/ingest/ingest.ts";
import type { Answer } from "../answer/responder.ts";
import type { BodyShare } from "../body/body-budget.ts";
import { BodyReader, TOO_MANY_REPORTS } from "../body/body-reader.ts";
import { type QueryValues, readQuery } from "../parameters/parameter.ts";
import type { Services } from "../services.ts";
import type { ClientCall } from "./client-gate.ts";
import { ADDRESS_PARAMETERS, type ClientRoute } from "./client-request.ts";

/** Creates the function that receives the messages of a route. */
export function createMessageReceiver(services: Services, route: ClientRoute): (call: ClientCall) => Answer {
  const { bodies } = services;
  const reader = new BodyReader();

  return function answer(call) {
    // GET only tests the key if this client sends reports by POST.
    const { greeting } = route.client;
    const isReport = route.client.methods.includes(route.method);
    if (isReport || greeting === undefined) return receive(call);
    const addressed = readQuery(call.request.url, ADDRESS_PARAMETERS);
    return addressed.ok ? call.answer(greeting(call.key.label)) : call.fail(addressed.error);
  };

  async function receive(call: ClientCall): Promise<Response> {
    const addressed = readQuery(call.request.url, ADDRESS_PARAMETERS);
    if (!addressed.ok) return call.fail(addressed.error);
    let answer: Result<ClientAnswer, ServiceError>;
    const share = bodies.begin({ appId: call.key.appId, keyId: call.key.id });
    if (share === null) return call.fail(TOO_MANY_REPORTS);
    try {
      answer = await receiveMessage(services, reader, route, call, addressed.value, share);
    } finally {
      share.end(); // Before the answer, which may be delayed.
    }
    return answer.ok ? call.answer(answer.value) : call.fail(answer.error);
  }
}

/** The client's answer once the whole message is on disk. */
async function receiveMessage(
  services: Services,
  reader: BodyReader,
  { method, path, client }: ClientRoute,
  call: ClientCall,
  addressed: AddressValues,
  share: BodyShare,
): Promise<Result<ClientAnswer, ServiceError>> {
  const contentType = call.headers["content-type"];
  const hasBody = method !== "GET";
  if (hasBody && isFileByType(contentType)) return fail(UPLOADED_FILE);
  const body = hasBody ? await reader.read(call.request, share) : ok(NO_BODY);
  if (!body.ok) return body;
  const content = await services.scheduler.run(bodiesOf(call.key.appId), readContent(body.value));
  if (isFile(body.value, content, contentType)) return fail(UPLOADED_FILE);
  const sender = senderOf(call.key);
  const address = { device: call.device ?? addressed.device_id, user: addressed.user_id };
  const decrypt = services.decryptOf(sender, address);
  const message = { ...messageOf(call, content, addressed.speed_unit), decrypt };
  if (content.kind === "empty" && !(client.takesQuery && message.query.size > 0)) {
    return client.takesQuery ? fail(NOTHING_SENT) : ok(client.success);
  }
  const source = { method, path, body: body.value };
  const envelope = { sender, address, message, source };
  const stored = await services.ingestMessage(envelope, client);
  if (!stored.ok) return stored;
  const friends = await services.friendsFor(envelope, stored.value);
  return ok(friends ?? stored.value.answeredBy.success);
}

const NO_BODY = new Uint8Array();

/** Refused, because success would make the app delete the file, and the quarantine could only store it as useless. */
const UPLOADED_FILE: ServiceError = {
  kind: "media_type_unsupported",
  message:
    "this path accepts reports, not files; nothing was stored. Use the command import on the server, " +
    "or POST /api/v1/imports once the server has it",
};

type AddressValues = QueryValues<typeof ADDRESS_PARAMETERS>;

/** A redirect may strip a request to this, and a person's browser sends it. */
const NOTHING_SENT: ServiceError = {
  kind: "invalid_parameter",
  message: "the request has neither parameters nor a body; it may have been redirected",
};

function messageOf(
  call: ClientCall,
  content: Content,
  speedUnit: SpeedUnit | null,
): Omit<ClientMessage, "decrypt"> {
  const { arrivedMs, headers, query, credentials } = call;
  for (const name in ADDRESS_PARAMETERS) query.delete(name);
  const { basicUser } = credentials;
  return { arrivedMs, content, query, headers, basicUser, topic: null, speedUnit };
}

function senderOf({ appId, id, lastFour, deviceId, userId, permissions }: KeyRecord): Sender {
  return { appId, keyId: id, lastFour, deviceId, userId, mayRead: permissions.includes("read") };
}

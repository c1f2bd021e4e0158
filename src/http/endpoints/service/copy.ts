import type { CopyPlan } from "../../../cluster/join/copies.ts";
import {
  COPY_PATH_PATTERN,
  type CopyPath,
  MANIFEST_PATH,
  parseCopyPath,
} from "../../../cluster/join/copy-path.ts";
import { ok } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { keyedEndpoint } from "../../endpoint.ts";
import { refusedParameters } from "../../openapi/operation.ts";
import { exampleOf, failure, SENT_WITH_KEY, shared } from "../../openapi/responses.ts";
import { invalid, type Parameter, readQuery } from "../../parameters/parameter.ts";
import type { Readiness } from "../../services.ts";
import { always, count, list, object, optional, plain, text, type ValueOf } from "../../shapes/shape.ts";

const NODE_ID = /^[0-9a-f]{16}$/;
const EXAMPLE_NODE = "5d0c2a7be41f9036";

/* What another node copies of this one before it follows the log by itself; `join` asks this. */

const cluster = object(
  {
    node_id: text("Of the node that answers. Files of two nodes don't make a copy."),
    servers: list(text("HOST:PORT.")),
    is_secure: plain<boolean>({ type: "boolean", description: "Whether they are spoken to over TLS." }),
    stream: text("Its name there."),
    created: text("When it was created, as its servers say it: one that was made anew is another."),
    floor: count("The first message that whoever has this copy needs."),
    last_taken: optional(
      object(
        {
          number: count("Its number in the stream."),
          id: text("What tells it from any other of that number."),
        },
        "The last message that the node had taken when it last sealed, left out where it has not yet. A log that has " +
          "another one in its place is not the one that the archive is of.",
      ),
    ),
  },
  "The replicated log.",
);

const answer = object({
  success: always(true),
  version: text("Of this server."),
  cluster,
  files: list(text("Its path, for `GET /api/v1/service/copy/file`.")),
});

const NOT_A_NODE = failure("The server is no node of a cluster.", SENT_WITH_KEY, ["PlainError"], {
  not_a_node: exampleOf({ kind: "not_a_node" }),
});

const NOT_THE_NODE = failure("The server is no node, or another one.", SENT_WITH_KEY, ["PlainError"], {
  not_a_node: exampleOf({ kind: "not_a_node" }),
  another_node: exampleOf({ kind: "another_node" }),
});

const STARTING: ServiceError = {
  kind: "unavailable",
  message: "the server is starting: it reads its log",
  retryAfterSeconds: 1,
};

export const copyPlan = keyedEndpoint({
  operationId: "getCopyPlan",
  tag: "Service",
  summary: "What another node copies of this one",
  description: [
    "The cluster, and the files that a copy is made of: the archive's manifest, where there is one, and the quarantine.",
    "The manifest names the parts of the archive. Whoever has all of these and follows the log from the floor on lacks",
    "nothing. Needs the permission `operate`.",
  ].join("\n"),
  method: "GET",
  path: "/api/v1/service/copy",
  permission: "operate",
  answer: {
    name: "CopyPlan",
    description: "What there is.",
    shape: answer,
    example: {
      success: true,
      version: "0.2.0",
      cluster: {
        node_id: EXAMPLE_NODE,
        servers: ["10.0.0.1:4222", "10.0.0.2:4222", "10.0.0.3:4222"],
        is_secure: false,
        stream: "wherehouse",
        created: "2026-11-02T08:15:00.123456789Z",
        floor: 48211,
        last_taken: { number: 49120, id: `${EXAMPLE_NODE}.0f3c5a9d21b7.812` },
      },
      files: [MANIFEST_PATH, "quarantine/000000000001.entries"],
    },
  },
  failures: { 409: NOT_A_NODE, 503: shared("Unavailable") },
  open({ copies, version, readiness }) {
    return async (call) => {
      const refusal = refusalOf(readiness());
      if (refusal !== null) return call.fail(refusal);
      const plan = await copies.plan();
      return plan.ok ? call.object(presented(version, plan.value), 200) : call.fail(plan.error);
    };
  },
});

function presented(version: string, { cluster, files }: CopyPlan): ValueOf<typeof answer> {
  const { nodeId, servers, isSecure, stream, created, floor, lastTaken } = cluster;
  const taken = lastTaken === null ? {} : { last_taken: lastTaken };
  const told = { node_id: nodeId, servers, is_secure: isSecure, stream, created, floor, ...taken };
  return { success: true, version, cluster: told, files };
}

const path: Parameter<CopyPath> = {
  description: "The file's path in a data directory, as the plan or the archive's manifest names it.",
  required: true,
  schema: { type: "string", pattern: COPY_PATH_PATTERN },
  example: MANIFEST_PATH,
  parse(name, given) {
    if (given === null) return invalid(`${name} is required`);
    const parsed = parseCopyPath(given);
    return parsed === null ? invalid(`${name} must be that of a file that a copy is made of`) : ok(parsed);
  },
};

const node: Parameter<string> = {
  description:
    "Of which node, as its plan says it: behind an address that leads to several another one may answer.",
  required: true,
  schema: { type: "string", pattern: NODE_ID.source },
  example: EXAMPLE_NODE,
  parse(name, given) {
    if (given === null) return invalid(`${name} is required`);
    return NODE_ID.test(given) ? ok(given) : invalid(`${name} must be 16 hexadecimal digits`);
  },
};

const query = { node, path };

export const copiedFile = keyedEndpoint({
  operationId: "getCopiedFile",
  tag: "Service",
  summary: "A file of such a copy",
  description: [
    "As it is on the disk. A part of the archive never changes, and is gone once a seal has put another in its place:",
    "then the manifest names that. `Wherehouse-Bytes` says how many there are: fewer broke off. Four files at once, and",
    "whoever takes nothing for a minute is cut off. Needs the permission `operate`.",
  ].join("\n"),
  method: "GET",
  path: "/api/v1/service/copy/file",
  permission: "operate",
  query,
  answer: {
    contentType: "application/octet-stream",
    description: "The file.",
    schema: { type: "string", format: "binary" },
  },
  failures: {
    ...refusedParameters({}, query, `node=${EXAMPLE_NODE}&path=keys.json`),
    404: failure("The file is gone.", SENT_WITH_KEY, ["PlainError"], {
      gone: exampleOf({ kind: "copied_file_gone" }),
    }),
    409: NOT_THE_NODE,
    503: shared("Unavailable"),
  },
  open({ copies, readiness }) {
    return async (call) => {
      const read = readQuery(call.request.url, query);
      if (!read.ok) return call.fail(read.error);
      const refusal = refusalOf(readiness());
      if (refusal !== null) return call.fail(refusal);
      const opened = await copies.open(read.value.node, read.value.path, call.request.signal);
      if (!opened.ok) return call.fail(opened.error);
      const { bytes } = opened.value;
      const name = read.value.path.replaceAll(/[/=]/g, "-");
      const sent = {
        name,
        mediaType: "application/octet-stream",
        isPacked: true,
        isIncomplete: false,
        bytes,
      };
      if (call.request.method !== "HEAD") return call.file({ ...sent, file: opened.value });
      opened.value.close(); // Nobody reads it.
      return call.file({ ...sent, file: NO_FILE });
    };
  },
});

const NO_FILE = { pieces: async function* () {} };

/** Parts and manifest are put in order while a server starts. */
function refusalOf({ status }: Readiness): ServiceError | null {
  return status === "starting" ? STARTING : null;
}

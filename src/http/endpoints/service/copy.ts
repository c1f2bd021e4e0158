import type { CopyPlan } from "../../../cluster/join/copies.ts";
import {
  COPY_PATH_PATTERN,
  type CopyPath,
  MANIFEST_PATH,
  parseCopyPath,
} from "../../../cluster/join/copy-path.ts";
import { ok } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { NO_FILE } from "../../answer/piecewise.ts";
import { keyedEndpoint } from "../../endpoint.ts";
import { refusedParameters } from "../../openapi/operation.ts";
import { exampleOf, failure, SENT_WITH_KEY, shared } from "../../openapi/responses.ts";
import { invalid, type Parameter, readQuery } from "../../parameters/parameter.ts";
import type { Readiness } from "../../services.ts";
import { always, count, list, object, optional, plain, text, type ValueOf } from "../../shapes/shape.ts";

const NODE_ID = /^[0-9a-f]{16}$/;
const EXAMPLE_NODE = "5d0c2a7be41f9036";

/* The files that another node copies from this one before it follows the log. The command `join` uses it. */

const cluster = object(
  {
    node_id: text("The node that answers. Files of two nodes don't form a copy."),
    servers: list(text("HOST:PORT.")),
    is_secure: plain<boolean>({ type: "boolean", description: "Whether connections to them use TLS." }),
    stream: text("The stream's name."),
    created: text("When its servers created the stream; a recreated stream is a different one."),
    floor: count("The first message that a node with this copy needs."),
    last_taken: optional(
      object(
        {
          number: count("Its number in the stream."),
          id: text("Distinguishes it from any other message of that number."),
        },
        "The last message that the node had applied at its last seal; absent before the first. If a log has another " +
          "message of that number, the archive does not belong to it.",
      ),
    ),
  },
  "The replicated log.",
);

const answer = object({
  success: always(true),
  version: text("The server's version."),
  cluster,
  files: list(text("Its path, for `GET /api/v1/service/copy/file`.")),
});

const NOT_A_NODE = failure("The server is not a node of a cluster.", SENT_WITH_KEY, ["PlainError"], {
  not_a_node: exampleOf({ kind: "not_a_node" }),
});

const NOT_THE_NODE = failure("The server is not a node, or another node.", SENT_WITH_KEY, ["PlainError"], {
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
  summary: "The files that another node copies from this one",
  description: [
    "The cluster, and the files of a copy: the archive's manifest, if there is one, the database of events, the",
    "quarantine, and the ledger of erasures. The manifest lists the files of the archive. A node that has all of these and follows the log from the",
    "floor is complete. Needs the permission `operate`.",
  ].join("\n"),
  method: "GET",
  path: "/api/v1/service/copy",
  permission: "operate",
  answer: {
    name: "CopyPlan",
    description: "The plan.",
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
      files: [MANIFEST_PATH, "quarantine/0000000000000012-5f0c8f3b1d2e4a6798b0c1d2e3f40516.message"],
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
  const applied = lastTaken === null ? {} : { last_taken: lastTaken };
  const facts = { node_id: nodeId, servers, is_secure: isSecure, stream, created, floor, ...applied };
  return { success: true, version, cluster: facts, files };
}

const path: Parameter<CopyPath> = {
  description: "The file's path in a data directory, as in the plan or the archive's manifest.",
  required: true,
  schema: { type: "string", pattern: COPY_PATH_PATTERN },
  example: MANIFEST_PATH,
  parse(name, text) {
    if (text === null) return invalid(`${name} is required`);
    const parsed = parseCopyPath(text);
    return parsed === null ? invalid(`${name} must be the path of a file of a copy`) : ok(parsed);
  },
};

const node: Parameter<string> = {
  description: "The node, as in its plan: an address may lead to several nodes.",
  required: true,
  schema: { type: "string", pattern: NODE_ID.source },
  example: EXAMPLE_NODE,
  parse(name, text) {
    if (text === null) return invalid(`${name} is required`);
    return NODE_ID.test(text) ? ok(text) : invalid(`${name} must be 16 hexadecimal digits`);
  },
};

const query = { node, path };

export const copiedFile = keyedEndpoint({
  operationId: "getCopiedFile",
  tag: "Service",
  summary: "A file of such a copy",
  description: [
    "As it is on disk. A file of the archive never changes; it is deleted when a seal replaces it, and then the manifest",
    "lists the new one. `Wherehouse-Bytes` has its size; with fewer bytes the download was interrupted. At most four files",
    "at once. A client that reads nothing for a minute is disconnected. Needs the permission `operate`.",
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
      const properties = {
        name,
        mediaType: "application/octet-stream",
        isPacked: true,
        isIncomplete: false,
        bytes,
      };
      if (call.request.method !== "HEAD") return call.file({ ...properties, file: opened.value });
      opened.value.close(); // A HEAD needs no body.
      return call.file({ ...properties, file: NO_FILE });
    };
  },
});

/** While a server starts, it may still change the archive's files and manifest. */
function refusalOf({ status }: Readiness): ServiceError | null {
  return status === "starting" ? STARTING : null;
}

import { jetstreamManager } from "@nats-io/jetstream";
import type { Picker } from "../../support/random.ts";
import type { Clients } from "../clients/clients.ts";
import { joinNode } from "./commands.ts";
import type { Lab } from "./lab.ts";
import type { LinkState } from "./network.ts";

/** What goes wrong in a round, and how it is set right again. */

export const FAULTS = [
  "leader and node killed",
  "leader killed",
  "leader stopped",
  "leader cut off",
  "server killed",
  "server stopped",
  "node killed",
  "node stopped",
  "node cut off",
  "clients killed",
  "clients stopped",
] as const;

/** What is tried once at the end of a long run. */
export const LAST_FAULTS = ["all servers killed", "all nodes killed", "log full", "node joins"] as const;

export type FaultKind = (typeof FAULTS | typeof LAST_FAULTS)[number];

/** The leader's death is what the stream stands still for, so it comes more often. */
const DECK: readonly FaultKind[] = [...FAULTS, "leader killed", "node killed"];

/** A leader's death leaves nobody for 4 to 9 s. */
const KILLED_MS = [500, 5000] as const;
const STOPPED_MS_MIN = 2000;
const FULL_MS = 4000;
/** Of a log that is about to be full: a second's. */
const ROOM_BYTES = 20_000;

export interface Fault {
  /** For people: who it met, and how. */
  readonly what: string;
  /** How long it lasts. */
  readonly durationMs: number;
  begin(): Promise<void>;
  /** Sets right what is still wrong. */
  end(): Promise<void>;
  /** How some request must fail meanwhile; null where none has to. */
  readonly mustShow: RegExp | null;
}

/** Kinds in an order of chance, each as often as the others; of one round the one that shows most. */
export function drawKinds(rounds: number, pick: Picker): FaultKind[] {
  if (rounds === 1) return [FAULTS[0]];
  const kinds: FaultKind[] = [];
  while (kinds.length < rounds) {
    const deck = [...DECK];
    while (deck.length > 0) kinds.push(...deck.splice(pick.integer(0, deck.length - 1), 1));
  }
  return [...kinds.slice(0, rounds), ...LAST_FAULTS];
}

export interface FaultOptions {
  readonly kind: FaultKind;
  readonly lab: Lab;
  readonly stoppedMsMax: number;
}

/** Who it meets, and for how long. */
interface Draw extends FaultOptions {
  readonly leader: number;
  readonly other: number;
  readonly node: number;
  readonly killedMs: number;
  readonly stoppedMs: number;
  readonly cut: Exclude<LinkState, "open">;
}

/** Finds its victims when it is made: a leader is that of now. */
export async function drawFault(
  options: FaultOptions,
  clients: readonly Clients[],
  pick: Picker,
): Promise<Fault> {
  const { kind, lab, stoppedMsMax } = options;
  const leader = (await lab.servers.leaderOf(lab.stream)) ?? 0;
  // Mostly short, or rounds would be nothing but waiting.
  const stoppedMost = pick.maybe(0.7, () => Math.min(5000, stoppedMsMax)) ?? stoppedMsMax;
  const draw: Draw = {
    ...options,
    leader,
    other: (leader + pick.integer(1, 2)) % 3,
    node: pick.integer(0, lab.nodes.length - 1),
    killedMs: pick.integer(...KILLED_MS),
    stoppedMs: pick.integer(STOPPED_MS_MIN, stoppedMost),
    cut: pick.item(["cut", "dead"] as const),
  };
  switch (kind) {
    case "leader and node killed":
      return both(leaderKilled(draw), nodeKilled(draw), draw.killedMs + 4000);
    case "leader killed":
      return leaderKilled(draw);
    case "server killed":
      return serverKilled(draw, draw.other);
    case "leader stopped":
      return serverStopped(draw, leader);
    case "server stopped":
      return serverStopped(draw, draw.other);
    case "leader cut off":
      return cutOff(draw, `nats-server ${leader + 1}`, (state) => lab.setServerLinks(leader, state));
    case "node killed":
      return nodeKilled(draw);
    case "node stopped":
      return nodeStopped(draw);
    case "node cut off":
      return cutOff(draw, `node ${draw.node + 1}`, (state) => lab.setNodeLinks(draw.node, state));
    case "clients killed":
      return clientsSignalled(clients, "SIGKILL", 500);
    case "clients stopped":
      return clientsSignalled(clients, "SIGSTOP", draw.stoppedMs);
    case "all servers killed":
      return allServersKilled(draw);
    case "all nodes killed":
      return allNodesKilled(draw);
    case "log full":
      return logFull(lab);
    case "node joins":
      return nodeJoins(draw);
  }
}

function serverKilled({ lab: { servers }, killedMs }: Draw, server: number): Fault {
  return {
    what: `nats-server ${server + 1}`,
    durationMs: killedMs,
    begin: () => servers.kill(server),
    end: async () => servers.restart(server),
    mustShow: null,
  };
}

function leaderKilled(draw: Draw): Fault {
  return { ...serverKilled(draw, draw.leader), what: `the log's leader, nats-server ${draw.leader + 1}` };
}

function serverStopped({ lab: { servers }, stoppedMs }: Draw, server: number): Fault {
  return {
    what: `nats-server ${server + 1}`,
    durationMs: stoppedMs,
    begin: async () => servers.stop(server),
    end: async () => servers.continue(server),
    mustShow: null,
  };
}

function nodeKilled({ lab: { nodes }, node, killedMs }: Draw): Fault {
  return {
    what: `node ${node + 1}`,
    durationMs: killedMs,
    begin: () => nodes[node]!.kill(),
    end: () => nodes[node]!.start(),
    mustShow: null,
  };
}

function nodeStopped({ lab: { nodes }, node, stoppedMs }: Draw): Fault {
  return {
    what: `node ${node + 1}`,
    durationMs: stoppedMs,
    begin: async () => nodes[node]!.signal("SIGSTOP"),
    end: async () => nodes[node]!.signal("SIGCONT"),
    mustShow: null,
  };
}

function cutOff({ cut, stoppedMs }: Draw, who: string, set: (state: LinkState) => void): Fault {
  return {
    what: `${who}, connections ${cut === "cut" ? "refused" : "dead"}`,
    durationMs: stoppedMs,
    begin: async () => set(cut),
    end: async () => set("open"),
    mustShow: null,
  };
}

function clientsSignalled([half]: readonly Clients[], signal: NodeJS.Signals, durationMs: number): Fault {
  return {
    what: "half of them",
    durationMs,
    begin: async () => half!.signal(signal),
    end: async () => half!.signal("SIGCONT"),
    mustShow: null,
  };
}

function allServersKilled({ lab: { servers }, killedMs }: Draw): Fault {
  return {
    what: "at once",
    durationMs: killedMs,
    begin: async () => void (await Promise.all(servers.names.map((_, server) => servers.kill(server)))),
    end: async () => {
      for (const server of servers.names.keys()) servers.restart(server);
    },
    mustShow: null,
  };
}

function allNodesKilled({ lab: { nodes }, killedMs }: Draw): Fault {
  return {
    what: "at once",
    durationMs: killedMs,
    begin: async () => void (await Promise.all(nodes.map((node) => node.kill()))),
    end: async () => void (await Promise.all(nodes.map((node) => node.start()))),
    mustShow: /ConnectionRefused|Unable to connect|ECONNREFUSED/i,
  };
}

/** Reports are refused then, and taken once there is room. */
async function logFull(lab: Lab): Promise<Fault> {
  const { bytesMax } = await sizeOfLog(lab);
  return {
    what: "the stream may not grow",
    durationMs: FULL_MS,
    begin: async () => resizeLog(lab, (await sizeOfLog(lab)).bytes + ROOM_BYTES),
    end: () => resizeLog(lab, bytesMax),
    mustShow: /the disk is full/,
  };
}

function nodeJoins({ lab, node }: Draw): Fault {
  const peer = lab.nodes[node]!;
  return {
    what: `a copy of node ${node + 1}`,
    durationMs: 0,
    async begin() {
      const joining = await lab.addNode();
      await joinNode(joining, peer);
      await joining.start();
    },
    end: async () => undefined,
    mustShow: null,
  };
}

function both(first: Fault, second: Fault, durationMs: number): Fault {
  return {
    what: `${first.what} and ${second.what}`,
    durationMs,
    begin: async () => void (await Promise.all([first.begin(), second.begin()])),
    end: async () => void (await Promise.all([first.end(), second.end()])),
    mustShow: null,
  };
}

function sizeOfLog({ servers, stream }: Lab): Promise<{ readonly bytes: number; readonly bytesMax: number }> {
  return servers.ask(async (connection) => {
    const { config, state } = await (await jetstreamManager(connection)).streams.info(stream);
    return { bytes: state.bytes, bytesMax: config.max_bytes };
  });
}

async function resizeLog({ servers, stream }: Lab, bytesMax: number): Promise<void> {
  await servers.ask(async (connection) => {
    await (await jetstreamManager(connection)).streams.update(stream, { max_bytes: bytesMax });
  });
}

import { type NatsCluster, startNatsCluster } from "../../../support/nats/nats-cluster.ts";
import { type Link, type LinkState, openLink } from "./network.ts";
import { type ClusterNode, createNode, firstKeyOf, removePlace, runtimeOf } from "./nodes.ts";

/** Three nats-servers and three nodes on this machine, with something between them that can be cut. */
export interface Lab {
  readonly stream: string;
  readonly servers: NatsCluster;
  readonly nodes: readonly ClusterNode[];
  readonly key: string;
  /** Between a node and all servers. */
  setNodeLinks(node: number, state: LinkState): void;
  /** Between a server and the other servers. */
  setServerLinks(server: number, state: LinkState): void;
  /** One more, that was not started yet. */
  addNode(): Promise<ClusterNode>;
  /** Ends all processes; removes the directories unless they are kept. */
  close(keeps: boolean): Promise<void>;
}

export const STREAM = "wherehouse";
const NODES = 3;

/** Often, so that archives are written while things go wrong. */
const NODE_FLAGS = ["--seal-every", "20s", "--log-size", "1GB"];

export async function openLab(onStep: (step: string) => void): Promise<Lab> {
  const links: Link[] = [];
  const opened = async (port: number) => {
    const link = await openLink(port);
    links.push(link);
    return link;
  };
  const routes: { readonly from: number; readonly to: number; readonly link: Link }[] = [];
  onStep("starting three nats-servers");
  const servers = await startNatsCluster({
    count: 3,
    async routeBy(from, to, port) {
      const link = await opened(port);
      routes.push({ from, to, link });
      return link.port;
    },
  });
  const nodes: ClusterNode[] = [];
  const nodeLinks: Link[][] = [];

  async function addNode(): Promise<ClusterNode> {
    const ways = await Promise.all(servers.servers.map((server) => opened(Number(server.split(":")[1]))));
    const node = createNode({
      runtime: runtimeOf(nodes.length),
      servers: ways.map(({ port }) => `127.0.0.1:${port}`),
      stream: STREAM,
      flags: NODE_FLAGS,
    });
    nodes.push(node);
    nodeLinks.push(ways);
    return node;
  }

  async function close(keeps: boolean): Promise<void> {
    await Promise.all(nodes.map((node) => node.close()));
    await servers.close();
    await Promise.all(links.map((link) => link.close()));
    if (!keeps) for (const { place } of nodes) removePlace(place);
  }

  try {
    for (let index = 0; index < NODES; index++) {
      const node = await addNode();
      onStep(`starting node ${index + 1} on ${node.runtime}`);
      await node.start(); // One by one: the first makes the key.
      await node.ready(60_000);
    }
  } catch (error) {
    await close(false);
    throw error;
  }
  return {
    stream: STREAM,
    servers,
    nodes,
    key: firstKeyOf(nodes),
    setNodeLinks(node, state) {
      for (const link of nodeLinks[node]!) link.set(state);
    },
    setServerLinks(server, state) {
      for (const { from, to, link } of routes) if (from === server || to === server) link.set(state);
    },
    addNode,
    close,
  };
}

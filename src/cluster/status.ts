import type { ClusterAddress } from "./cluster-config.ts";
import type { TakenMessage } from "./stream/taken-message.ts";

/** The cluster that this process is a node of, as one more node has to know it. */
export interface ClusterStatus extends ClusterAddress {
  /** This node's own. */
  readonly nodeId: string;
  /** When the stream was created, as its servers say it. */
  readonly created: string;
  /** The first message that a start of this node would need: what its archive holds is in those before it. */
  readonly floor: number;
  /** The last message that this node had taken as its archive was made; null where it has sealed nothing yet. */
  readonly lastTaken: TakenMessage | null;
}

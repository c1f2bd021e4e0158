import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";

/** An event as a receiver gets it. */
export interface Received {
  readonly id: string;
  readonly type: string;
  readonly atMs: number;
  readonly data: {
    readonly id: string;
    readonly revision: number;
    readonly timestamp: number;
    readonly device_id: string;
    readonly withdrawn?: true;
  };
}

/** A receiver that checks each signature, and keeps what it gets. */
export class Receiver {
  readonly received: Received[] = [];
  /** The answer to the next requests; 0 hangs. */
  status = 204;
  secret = "";
  /** Requests that were not signed with the secret. */
  forged = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      if (this.status === 0) return;
      if (this.status === 204) this.#take(body, request.headers as Record<string, string>);
      response.writeHead(this.status).end();
    });
  }

  static async open(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #take(body: string, headers: Readonly<Record<string, string>>): void {
    const atMs = performance.now();
    try {
      const { type, data } = new Webhook(this.secret).verify(body, headers) as Received;
      if (type !== "test") this.received.push({ id: headers["webhook-id"]!, type, atMs, data });
    } catch {
      this.forged++;
    }
  }
}

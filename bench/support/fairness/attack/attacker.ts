/** An attacker in a separate process, so that its own cost affects no other: `attacker.ts ORDER`, see `attack.ts`. */

import type { Target } from "../shape.ts";
import { findShape } from "../shapes.ts";
import type { AttackOrder } from "./attack.ts";
import { type HostileConnection, openHostile } from "./hostile-connection.ts";

const { shape, ...order } = JSON.parse(process.argv[2]!) as AttackOrder;
const connections = new Set<HostileConnection>();
const outcomes: Record<string, number> = {};
let isOver = false;

const target: Target = {
  ...order,
  goesOn: () => !isOver,
  async open(options) {
    for (const each of connections) if (each.isClosed) connections.delete(each);
    const connection = await openHostile(order.url, options);
    if (connection !== null) connections.add(connection);
    return connection;
  },
  count(outcome) {
    if (!isOver) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  },
};

const attack = await findShape(shape).arm(target);
for (const connection of connections) connection.close();
const words = console[Symbol.asyncIterator]();
console.log("armed");
await words.next(); // "go"
void attack();
await words.next(); // "stop"
isOver = true;
for (const connection of connections) connection.close();
console.log(JSON.stringify(outcomes));
process.exit(0);

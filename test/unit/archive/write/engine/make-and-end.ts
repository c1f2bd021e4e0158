/**
 * Has a process make parts, for the test of it: says what came of that, and of the processes that it began their
 * numbers and priorities. Told `dies`, it is killed while a statement runs.
 */
import { createPartProcesses } from "../../../../../src/archive/write/engine/part-process.ts";
import { systemTimers } from "../../../../../src/lib/schedule/timers.ts";
import { startHelper } from "../../../../../src/runtime/helper/spawn-helper.ts";
import { until } from "../../../../support/until.ts";
import { ENDLESS, NEVER, PART_MAKER, SMALL_DATABASE } from "./part-maker.ts";
import { childrenOf, environmentOf, processorTicksOf } from "./processes.ts";

/** Of the processor time of the process that runs the statement: more than it takes for anything else. */
const RUNNING_TICKS = 5;

const processes = createPartProcesses({
  startHelper,
  script: PART_MAKER,
  timers: systemTimers,
  onNote: (note) => console.error(note),
});
const engine = await processes.start(SMALL_DATABASE, NEVER);
const connection = await engine.connect();
const [seven] = await connection.numbers("SELECT 7::DOUBLE");
const children = childrenOf(process.pid);
console.log(
  JSON.stringify({ seven, children, variables: children.flatMap(({ pid }) => environmentOf(pid)) }),
);
if (process.argv.includes("dies")) {
  const [{ pid } = { pid: 0 }] = children;
  const ticksBefore = processorTicksOf(pid);
  void connection.run(ENDLESS);
  await until(() => processorTicksOf(pid) >= ticksBefore + RUNNING_TICKS);
  process.kill(process.pid, "SIGKILL");
}
engine.close();

import { MemoryMeter } from "../../../support/own-process.ts";

/** Loaded before a program, it tells at its end, in the last line of its standard error, how much its memory grew. */

const memory = new MemoryMeter();
setInterval(() => memory.look(), 5).unref();
process.on("exit", () => console.error(String(memory.grownBytes)));

import os from "node:os";

/*
 * pino asks for the host's name when it is loaded, which Deno allows only with `--allow-sys`, and which no line of ours
 * shows. Who imports this before pino needs no such permission.
 */
os.hostname = () => "";

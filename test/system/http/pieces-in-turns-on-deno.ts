import { unpackInTurns } from "../../unit/http/body/pieces-in-turns.ts";

/** Prints what the unit test of bodies sees, on the runtime that this runs on. */
console.log(JSON.stringify(await unpackInTurns()));

import { ANONYMOUS } from "../model/ids.ts";
import { VALUE_COLUMNS } from "./columns.ts";

/**
 * The select list that lays a row of one table over a row of another, all `VALUE_COLUMNS` by name: what the upper
 * carries replaces, what it leaves out stays, and a record that nobody claimed is nobody's. Either row may be
 * the missing side of an outer join.
 */
export function overlaidColumns(over: string, under: string): string {
  return VALUE_COLUMNS.map(({ name }) => {
    const rest = name === "user_id" ? `, '${ANONYMOUS}'` : "";
    return `coalesce(${over}.${name}, ${under}.${name}${rest}) AS ${name}`;
  }).join(", ");
}

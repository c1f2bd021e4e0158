import type { Target } from "./support/target.ts";
import { jsonBodies, ndjsonBodies } from "./targets/bodies.ts";
import { clientKeys, clientMessages } from "./targets/clients.ts";
import { indexColumns, numberColumns, textColumns } from "./targets/columns.ts";
import {
  acknowledgedFiles,
  backups,
  importRecords,
  keyFiles,
  manifests,
  passPhraseFiles,
} from "./targets/json-files.ts";
import { logEntries, logSegments } from "./targets/log.ts";
import { mapFiles } from "./targets/map-files.ts";
import { packedBodies } from "./targets/packed.ts";
import { keyTexts, paths, queries } from "./targets/requests.ts";
import { csvFiles, csvRows, lineFiles } from "./targets/text-files.ts";

/** Everything that decodes what may be anybody's, or damaged. */
export const TARGETS: readonly Target[] = [
  numberColumns,
  indexColumns,
  textColumns,
  logEntries,
  logSegments,
  manifests,
  keyFiles,
  passPhraseFiles,
  backups,
  acknowledgedFiles,
  importRecords,
  jsonBodies,
  ndjsonBodies,
  packedBodies,
  clientMessages,
  clientKeys,
  csvFiles,
  csvRows,
  lineFiles,
  queries,
  paths,
  keyTexts,
  mapFiles,
];

import process from "node:process";
import { serveUpload } from "../import/upload/serve-upload.ts";
import { openHelperPort } from "../runtime/helper/spawn-helper.ts";

/** Answers of the server come first; a person waits for this process. */
const NICENESS = 5;

/** The helper process that reads an uploaded file. */
serveUpload({ ...openHelperPort(NICENESS), residentBytes: () => process.memoryUsage().rss });

/** Encodes one batch on the encoder's thread, for `row-encoder.test.ts`; ends by itself, though nothing is closed. */
import { createRowEncoder } from "../../../src/archive/write/row-encoder.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { createReportBatchBuilder } from "../../../src/model/report-batch.ts";

const builder = createReportBatchBuilder(1);
builder.begin();
builder.numbers[0] = 42.36;
builder.numbers[1] = -71.06;
builder.add(builder.text("bus"), 1_700_000_000_000);
const bytes = await createRowEncoder().encode("app" as AppId, builder.build());
console.log(new TextDecoder().decode(bytes));

import { FloatColumn, NumberColumn } from "../../lib/tables/columns.ts";
import { PackedTexts } from "../../lib/tables/packed-texts.ts";
import { LateFixes } from "../late/late-fixes.ts";
import type { RowPages } from "../records/row-pages.ts";
import { Tracks } from "../records/tracks.ts";
import { Holders } from "./holders.ts";

/** What is known of an app's devices, by number: an object for each of a million, and its parts, took a kilobyte. */
export class DeviceColumns {
  /** Of numbers that are somebody's. */
  readonly ids = new PackedTexts();
  /** How often each number became free, so that who was meant by it can tell. */
  readonly removals = new NumberColumn();
  /** The records in memory. */
  readonly tracks: Tracks;
  /** User (as the dictionary numbers them) of the newest record; 0 before the first. */
  readonly currentUsers = new NumberColumn();
  /** Timestamp of the newest record that the archive holds; -Infinity if it holds none. */
  readonly sealedTimes = new FloatColumn();
  /** Fixes of instants of which several are kept. */
  readonly fixes = new LateFixes();
  /** Who made how many of the records in memory. */
  readonly holders = new Holders();

  constructor(pages: RowPages) {
    this.tracks = new Tracks(pages);
  }

  /** Timestamp of the newest record, wherever it is; -Infinity before the first. */
  newestMs(device: number): number {
    return Math.max(this.tracks.newestMs(device), this.sealedTimes.of(device));
  }
}

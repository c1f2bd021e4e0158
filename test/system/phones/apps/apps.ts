import type { App } from "./app.ts";
import { colota, colotaOverland } from "./colota.ts";
import { gpslogger, gpsloggerFile, opengts } from "./gpslogger.ts";
import { homeAssistant } from "./home-assistant.ts";
import { osmand } from "./osmand.ts";
import { overland } from "./overland.ts";
import { owntracksAndroid, owntracksIos } from "./owntracks.ts";
import { phonetrack } from "./phonetrack.ts";
import { traccar8Android, traccar8Ios } from "./traccar-8.ts";
import { traccar9 } from "./traccar-9.ts";
import { traccar10 } from "./traccar-10.ts";
import { traccarServer } from "./traccar-server.ts";

/** All of them, each with a rule of its own. */
export const APPS: readonly App[] = [
  owntracksAndroid,
  owntracksIos,
  overland,
  traccar8Android,
  traccar8Ios,
  traccar9,
  traccar10,
  traccarServer,
  osmand,
  gpslogger,
  gpsloggerFile,
  opengts,
  colota,
  colotaOverland,
  homeAssistant,
  phonetrack,
];

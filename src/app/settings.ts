import type { Settings } from "../directory/settings.ts";
import { watchFile } from "../directory/shared-file.ts";
import { systemTimers } from "../lib/schedule/timers.ts";
import { DEFAULT_RETENTION } from "../model/time/retention.ts";

/** What an operator should know of the settings, as it happens. */
export interface SettingsEvents {
  /** How long records are kept, where that is not the default or has just been set. */
  onRetention(text: string): void;
  /** Why the file can't be used. */
  onSettingsFile(reason: string): void;
}

const RELOAD_MS = 1000; // Half of what help and documents promise.

/** Takes in what the command line sets, and tells of it and of what is wrong with the file. */
export function watchSettings(
  settings: Settings,
  events: SettingsEvents,
  timers = systemTimers,
): { stop(): void } {
  let told = DEFAULT_RETENTION.text;
  function tell(): void {
    const { text } = settings.retention;
    if (text !== told) events.onRetention(text);
    told = text;
  }
  function tellFault(): void {
    const { state, retention } = settings;
    if (state === "ok" || (state === "missing" && retention.text === DEFAULT_RETENTION.text)) return;
    const fault = state === "missing" ? "is gone" : `can't be used: ${state.damaged}`;
    events.onSettingsFile(`settings.json ${fault}. Until it is put back, the retention is ${retention.text}`);
  }
  tell();
  tellFault();
  return watchFile(settings, RELOAD_MS, tellFault, tell, timers);
}

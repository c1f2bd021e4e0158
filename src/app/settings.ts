import type { Settings } from "../directory/settings.ts";
import { RELOAD_MS, watchFile } from "../directory/shared-file.ts";
import { systemTimers } from "../lib/schedule/timers.ts";
import { DEFAULT_RETENTION } from "../model/time/retention.ts";

/** Events of the settings that an operator should know about. */
export interface SettingsEvents {
  /** The retention, if it is not the default or was just set. */
  onRetention(text: string): void;
  /** Why the settings file can't be used. */
  onSettingsFile(reason: string): void;
}

/** Reloads settings that the command line changes; reports changes and problems of the file. */
export function watchSettings(
  settings: Settings,
  events: SettingsEvents,
  timers = systemTimers,
): { stop(): void } {
  let reported = DEFAULT_RETENTION.text;
  function tell(): void {
    const { text } = settings.retention;
    if (text !== reported) events.onRetention(text);
    reported = text;
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

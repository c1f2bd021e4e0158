import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { DraftFault } from "../items/draft-fault.ts";
import { checkbox, faultBeside, textIn } from "../items/form-fields.ts";
import { type DraftSchedule, WEEKDAYS } from "./draft-schedule.ts";
import { dayName, scheduleText } from "./fence-texts.ts";

/* The hours of a geofence or an alert, in its form. */

interface ScheduleField {
  readonly schedule: DraftSchedule;
  /** The zone of new hours. */
  readonly zone: string;
  readonly fault: DraftFault | null;
  readonly set: (change: (before: DraftSchedule) => DraftSchedule) => void;
}

/** When a geofence or an alert is in force, in its form. */
export function scheduleField({ schedule, zone, fault, set }: ScheduleField): TemplateResult {
  const weekly = (): DraftSchedule => {
    return { kind: "weekly", timezone: zone, days: WEEKDAYS.slice(0, 5), from: "08:00", to: "18:00" };
  };
  const change = (event: Event) => {
    const isAlways = textIn(event) === "always";
    set(() => (isAlways ? { kind: "always" } : weekly()));
  };
  return html`<label class="item-number"><span>In force</span>
      <select @change=${change}>
        <option value="always" .selected=${live(schedule.kind === "always")}>Always</option>
        <option value="weekly" .selected=${live(schedule.kind === "weekly")}>In weekly hours</option>
        ${
          schedule.kind === "other"
            ? html`<option value="other" .selected=${live(true)}>As it is</option>`
            : nothing
        }
      </select></label>
    ${schedule.kind === "other" ? html`<p class="soft">${scheduleText(schedule.schedule)}</p>` : nothing}
    ${schedule.kind === "weekly" ? hours(schedule, set) : nothing} ${faultBeside(fault, "schedule")}`;
}

type WeeklyHours = DraftSchedule & { readonly kind: "weekly" };

function hours(current: WeeklyHours, set: ScheduleField["set"]): TemplateResult {
  const edit = (changes: (before: WeeklyHours) => Partial<WeeklyHours>) =>
    set((before) => (before.kind === "weekly" ? { ...before, ...changes(before) } : before));
  const toggle = (day: string, isOn: boolean) =>
    edit(({ days }) => ({ days: WEEKDAYS.filter((each) => (each === day ? isOn : days.includes(each))) }));
  const type = (member: "from" | "to", event: Event) => {
    const text = textIn(event);
    edit(() => ({ [member]: text }));
  };
  const time = (member: "from" | "to", label: string) => html`<input type="time" aria-label=${label}
    .value=${live(current[member])} @change=${(event: Event) => type(member, event)}>`;
  return html`<fieldset class="item-days">
    <legend class="unseen">Weekdays</legend>
    ${WEEKDAYS.map((day) => checkbox(dayName(day), current.days.includes(day), (isOn) => toggle(day, isOn)))}
    <p class="item-hours">${time("from", "From")} – ${time("to", "To")} <span class="soft">${current.timezone}</span></p>
  </fieldset>`;
}

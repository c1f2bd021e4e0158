import { html, nothing, type TemplateResult } from "lit-html";
import { safeName, saveFile } from "../device/downloads.ts";
import { countText, type Units } from "../geo/units.ts";
import { dialog } from "../shell/dialog.ts";
import { faultNote } from "../shell/fault-note.ts";
import { skeletonTiles } from "../shell/skeleton.ts";
import type { LocalDay } from "../time/local-day.ts";
import type { LoadedDays } from "./day-facts.ts";
import {
  barText,
  csvText,
  DAYS_WITH_REPORTS,
  MEASURES,
  type Measure,
  measureTitle,
  REPORTS,
} from "./measures.ts";
import {
  barLabel,
  type Grouping,
  listedSums,
  type PeriodFacts,
  pageTitle,
  periodText,
  sumByPeriod,
  sumOfAll,
} from "./periods.ts";
import type { Statistics } from "./statistics.ts";

/* The dialog of the statistics: sums, charts, a table, and the same numbers as a CSV file. */

export interface StatisticsDialogParts {
  readonly statistics: Statistics;
  readonly deviceId: string;
  /** What the page calls the device. */
  readonly label: string;
  readonly loaded: LoadedDays;
  readonly zone: string;
  readonly units: Units;
  readonly theme: string;
  /** Whether the code that draws charts is loaded. */
  readonly hasCharts: boolean;
  readonly openDay: (day: LocalDay) => void;
  readonly retry: () => void;
}

/** A tile for each number, which are as many as there are measures. */
const SKELETON_TILES = MEASURES.length;

const GROUPINGS: readonly { readonly grouping: Grouping; readonly name: string; readonly noun: string }[] = [
  { grouping: "day", name: "Days", noun: "Day" },
  { grouping: "week", name: "Weeks", noun: "Week" },
  { grouping: "month", name: "Months", noun: "Month" },
  { grouping: "year", name: "Years", noun: "Year" },
];

/** What a device did by day, week, month or year: sums, charts, and a table. */
export function statisticsDialog(parts: StatisticsDialogParts): TemplateResult | typeof nothing {
  const { statistics, loaded, label } = parts;
  const { anchor, grouping, periods } = statistics;
  if (anchor === null) return nothing;
  const sums = sumByPeriod(periods, loaded.days);
  const total = sumOfAll(periods, loaded.days);
  const isEmpty = total === null || total.daysWithReports === 0;
  const body = html`${controls(anchor, parts)}
    ${loaded.fault === null ? nothing : faultNote(loaded.fault, { label: "Try again", act: parts.retry })}
    ${loaded.isIncomplete ? html`<p class="soft">Some reports of this time are lost.</p>` : nothing}
    <div class="statistics" aria-busy=${loaded.isLoading ? "true" : "false"}>
      ${
        isEmpty
          ? loaded.isLoading
            ? skeletonTiles(SKELETON_TILES)
            : html`<p class="soft">No reports in this time.</p>`
          : html`${tiles(total, parts)} ${charts(sums, parts)}
            ${table(sums, parts)}
            <button @click=${() => saveCsv(sums, parts)}>Download CSV</button>`
      }
    </div>
    <p class="soft calendar-note">Days of ${parts.zone}. ${grouping === "week" ? "A week belongs to the year that it begins in." : nothing}</p>`;
  return dialog({
    name: "statistics",
    title: `Statistics of ${label}`,
    body,
    closed: () => statistics.close(),
  });
}

function controls(anchor: LocalDay, { statistics }: StatisticsDialogParts): TemplateResult {
  const { grouping } = statistics;
  return html`<div class="calendar-controls">
    <div class="pager">
      <button aria-label="Earlier" @click=${() => statistics.move(-1)}>◀</button>
      <strong aria-live="polite">${pageTitle(grouping, anchor)}</strong>
      <button aria-label="Later" ?disabled=${statistics.isLastPage} @click=${() => statistics.move(1)}>▶</button>
    </div>
    <div class="tabs" role="group" aria-label="Group by">
      ${GROUPINGS.map(
        (one) => html`<button aria-pressed=${one.grouping === grouping ? "true" : "false"}
          @click=${() => statistics.show(one.grouping, anchor)}>${one.name}</button>`,
      )}
    </div>
  </div>`;
}

function tiles(total: PeriodFacts, { statistics, units }: StatisticsDialogParts): TemplateResult {
  const places = statistics.countPlaces();
  return html`<dl class="tiles">
    ${MEASURES.map((measure) => html`<div><dt>${measure.name}</dt><dd>${measure.text(total, units)}</dd></div>`)}
    ${
      statistics.grouping === "day"
        ? html`<div><dt>Places</dt><dd>${places === null ? "–" : countText(places)}</dd></div>`
        : nothing
    }
  </dl>`;
}

/** Single days have at most one day with reports, and the number of reports says little about a device. */
function charts(sums: readonly PeriodFacts[], parts: StatisticsDialogParts): TemplateResult {
  const { statistics, units, theme, hasCharts } = parts;
  const { grouping } = statistics;
  const isCharted = (measure: Measure) =>
    measure !== REPORTS && (measure !== DAYS_WITH_REPORTS || grouping !== "day");
  const labels = sums.map((facts) => barLabel(grouping, facts));
  const figure = (measure: Measure) => {
    const values = sums.map((facts) => measure.value(facts, units));
    if (!values.some((value) => value !== null && value > 0)) return nothing;
    const title = measureTitle(measure, units);
    const texts = sums.map((facts) => barText(measure, grouping, facts, units));
    return html`<figure>
      <figcaption>${title}</figcaption>
      ${
        hasCharts
          ? html`<bar-chart aria-label=${title}
              .bars=${{ labels, texts, values, unit: measure.unit(units), theme }}
              .onChoose=${(index: number) => enter(sums[index]!, parts)}></bar-chart>`
          : html`<div class="bar-space"></div>`
      }
    </figure>`;
  };
  return html`<div class="charts">${MEASURES.filter(isCharted).map(figure)}</div>`;
}

function table(sums: readonly PeriodFacts[], parts: StatisticsDialogParts): TemplateResult {
  const { units, statistics } = parts;
  const { grouping } = statistics;
  const noun = GROUPINGS.find((one) => one.grouping === grouping)!.noun;
  const measures = MEASURES.filter((measure) => measure !== DAYS_WITH_REPORTS || grouping !== "day");
  const row = (facts: PeriodFacts) => html`<tr>
    <th scope="row"><button class="plain" @click=${() => enter(facts, parts)}>${periodText(grouping, facts)}</button></th>
    ${measures.map((measure) => html`<td>${measure.text(facts, units)}</td>`)}
  </tr>`;
  return html`<div class="table-frame" role="region" aria-label="Table" tabindex="0"><table class="hours">
    <thead><tr><th scope="col">${noun}</th>${measures.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${listedSums(sums).map(row)}</tbody>
  </table></div>`;
}

/** Opens what a row or a bar stands for: a day on the map, or the page of a shorter grouping. */
function enter({ start }: PeriodFacts, { statistics, openDay }: StatisticsDialogParts): void {
  const { grouping } = statistics;
  if (grouping === "day") openDay(start);
  else statistics.show(grouping === "year" ? "month" : "day", start);
}

function saveCsv(sums: readonly PeriodFacts[], { deviceId, statistics, units }: StatisticsDialogParts): void {
  const name = [safeName(deviceId), `${statistics.grouping}s`, sums[0]!.start, "to", sums.at(-1)!.end].join(
    "-",
  );
  saveFile(new Blob([csvText(sums, units)], { type: "text/csv" }), `${name}.csv`);
}

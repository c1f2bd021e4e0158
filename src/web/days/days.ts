import { html, nothing, type TemplateResult } from "lit-html";
import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import { LateModule } from "../api/late-module.ts";
import type { Units } from "../geo/units.ts";
import { faultNote } from "../shell/fault-note.ts";
import { skeletonPlot } from "../shell/skeleton.ts";
import { addDays, DAY, type LocalDay, type Span } from "../time/local-day.ts";
import { calendarDialog } from "./calendar-dialog.ts";
import { firstWeekday, type Weekday, yearOf } from "./calendar-grid.ts";
import { DayCalendar } from "./day-calendar.ts";
import { FactsCache, type LoadedDays } from "./day-facts.ts";
import { barText, DISTANCE, measureTitle } from "./measures.ts";
import { barLabel, type Period, spanPeriods, sumByPeriod, yearsOf } from "./periods.ts";
import { spanTable } from "./span-table.ts";
import { Statistics } from "./statistics.ts";
import { statisticsDialog } from "./statistics-dialog.ts";

/** The used part of the chosen device. */
export interface ChosenDays {
  readonly id: string | null;
  readonly zone: string;
  readonly day: LocalDay;
  readonly today: LocalDay;
  readonly span: Span;
  look(day: LocalDay, span: Span): void;
}

export interface DaysParts {
  readonly api: Api;
  readonly table: {
    readonly timestampMs: ArrayLike<number>;
    rowOf(id: string): number | undefined;
    labelOf(id: string): string;
  };
  readonly chosen: ChosenDays;
  readonly settings: {
    readonly units: Units;
    readonly values: { readonly weekStart: Weekday | null };
  };
  readonly changed: () => void;
}

/** The calendar and the statistics of the chosen device. Their code is loaded when a user first needs it. */
export class Days {
  readonly #parts: DaysParts;
  readonly #facts: FactsCache;
  readonly #chart: LateModule<typeof import("./bar-chart.ts")>;
  readonly calendar: DayCalendar;
  readonly statistics: Statistics;
  #charts: "none" | "loading" | "loaded" = "none";
  #chartFault: string | null = null;
  #isTableOpen = false;

  constructor(parts: DaysParts) {
    const { api, table, changed } = parts;
    this.#parts = parts;
    this.#chart = new LateModule(api, "days/bar-chart.ts", () => import("./bar-chart.ts"));
    const newestMs = (id: string) => {
      const row = table.rowOf(id);
      return row === undefined ? null : table.timestampMs[row]!;
    };
    this.#facts = new FactsCache({ api, newestMs, changed });
    const first = () => parts.settings.values.weekStart ?? firstWeekday();
    this.calendar = new DayCalendar(first, changed);
    this.statistics = new Statistics({ ...parts, first });
  }

  openCalendar(): void {
    const { day, today } = this.#parts.chosen;
    this.calendar.open(day, today);
  }

  openStatistics(): void {
    this.statistics.open(this.#parts.chosen.day);
  }

  /** Loads everything again, since old reports have come in. */
  reload(): void {
    this.#facts.clear();
    this.statistics.forgetPlaces();
    this.#parts.changed();
  }

  /** Forgets everything at the end of a session. */
  close(): void {
    this.#facts.clear();
    this.calendar.close();
    this.statistics.forget();
  }

  dialogs(theme: string): TemplateResult | typeof nothing {
    const { chosen, settings } = this.#parts;
    const { units } = settings;
    const { id: deviceId, zone, day, today } = chosen;
    if (deviceId === null) return nothing;
    const retry = () => this.#retry();
    const { calendar, statistics } = this;
    if (calendar.focused !== null) {
      const loaded = this.#facts.look({ deviceId, zone, years: [yearOf(calendar.focused)] });
      const choose = (chosenDay: LocalDay) => {
        calendar.close();
        chosen.look(chosenDay, DAY);
      };
      return calendarDialog({ calendar, loaded, day, today, zone, units, choose, retry });
    }
    if (!statistics.isOpen) return nothing;
    const loaded = this.#facts.look({ deviceId, zone, years: yearsOf(statistics.periods) });
    const openDay = (chosenDay: LocalDay) => {
      statistics.close();
      chosen.look(chosenDay, DAY);
    };
    const hasCharts = this.#hasCharts();
    const fault = loaded.fault ?? this.#chartFault;
    const label = this.#parts.table.labelOf(deviceId);
    return statisticsDialog({
      ...{ statistics, deviceId, label, zone, units, theme, hasCharts, openDay, retry },
      loaded: { ...loaded, fault },
    });
  }

  /** The distance of each day, or of each week if the span is long, for a device without anything else to plot. */
  spanChart(theme: string): TemplateResult | typeof nothing {
    const { chosen, settings } = this.#parts;
    const { units } = settings;
    const { id: deviceId } = chosen;
    if (deviceId === null) return nothing;
    const { periods, loaded } = this.#lookAtSpan(deviceId);
    const { days, isLoading, fault } = loaded;
    const problem = fault ?? this.#chartFault;
    if (problem !== null)
      return faultNote(problem, { label: "Try again", act: () => this.#retry() }, "plot-none");
    if (!this.#hasCharts() || (isLoading && days.length === 0)) return skeletonPlot();
    const isByDay = periods.every(({ start, end }) => start === end);
    const labels = periods.map((period) => barLabel("week", period));
    const sums = sumByPeriod(periods, days);
    const values = sums.map((facts) => DISTANCE.value(facts, units));
    const texts = sums.map((facts) => barText(DISTANCE, isByDay ? "day" : "week", facts, units));
    const title = `${measureTitle(DISTANCE, units)} by ${isByDay ? "day" : "week"}`;
    return html`<p class="plot-head">${title}</p>
      <bar-chart class="plot" aria-label=${title} .bars=${{ labels, texts, values, unit: DISTANCE.unit(units), theme }}
        .onChoose=${(index: number) => isByDay && chosen.look(periods[index]!.start, DAY)}></bar-chart>`;
  }

  /** The table of the chosen span. */
  get isTableOpen(): boolean {
    return this.#isTableOpen;
  }

  openTable(isOpen: boolean): void {
    this.#isTableOpen = isOpen;
    this.#parts.changed();
  }

  /** The distance, the time and the reports of each day of the span, or of each week if it is long. */
  spanTable(): TemplateResult | typeof nothing {
    const { chosen, settings } = this.#parts;
    const { id: deviceId } = chosen;
    if (deviceId === null) return nothing;
    const { periods, loaded } = this.#lookAtSpan(deviceId);
    if (loaded.fault !== null)
      return faultNote(loaded.fault, { label: "Try again", act: () => this.#retry() });
    if (loaded.isLoading && loaded.days.length === 0) return html`<p class="soft">Loading…</p>`;
    const { units } = settings;
    const choose = (day: LocalDay) => chosen.look(day, DAY);
    return spanTable({ sums: sumByPeriod(periods, loaded.days), units, choose });
  }

  #lookAtSpan(deviceId: string): { readonly periods: readonly Period[]; readonly loaded: LoadedDays } {
    const { zone, day, span } = this.#parts.chosen;
    const periods = spanPeriods(addDays(day, 1 - span.days), day, this.statistics.first);
    return { periods, loaded: this.#facts.look({ deviceId, zone, years: yearsOf(periods) }) };
  }

  /** Whether charts can be drawn. Loads what draws them when it is first needed. */
  #hasCharts(): boolean {
    if (this.#charts === "none" && this.#chartFault === null) void this.#loadCharts();
    return this.#charts === "loaded";
  }

  async #loadCharts(): Promise<void> {
    this.#charts = "loading";
    try {
      const { defineBarChart } = await this.#chart.load();
      await defineBarChart();
      this.#charts = "loaded";
    } catch (error) {
      this.#charts = "none";
      this.#chartFault = sentenceOf(error);
    }
    this.#parts.changed();
  }

  #retry(): void {
    this.#chartFault = null;
    this.#facts.retry();
  }
}

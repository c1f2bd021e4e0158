import { ApiError } from "../api/api-error.ts";

let loading: Promise<void> | null = null;

/** Loads uPlot's style sheet once, for all elements that draw with it. A failure is tried again by the next call. */
export function loadPlotSheet(): Promise<void> {
  loading ??= appendSheet().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function appendSheet(): Promise<void> {
  const sheet = document.createElement("link");
  sheet.rel = "stylesheet";
  sheet.href = new URL("uPlot.min.css", import.meta.resolve("uplot")).href;
  const loaded = new Promise((resolve, reject) => {
    sheet.onload = resolve;
    sheet.onerror = () => {
      sheet.remove();
      reject(new ApiError(0, "The plot can't be loaded."));
    };
  });
  document.head.append(sheet);
  await loaded;
}

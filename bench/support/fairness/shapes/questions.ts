import {
  ARCHIVED_DAYS,
  ARCHIVED_DAYS_AGO_MIN,
  CROWD_PLACE,
  CROWD_USER,
  dayName,
  LATE_DAYS_AGO,
  SHARED_DEVICE,
  SHARED_USER,
} from "../attack/attacked-data.ts";
import { createFreePace } from "../attack/pace.ts";
import { question } from "../attack/requests.ts";
import { flood, hold, sendAtPace } from "../attack/sending.ts";
import type { DirectoryName, Shape, Target } from "../shape.ts";

const APP_CURRENT = "/api/v1/locations/current";
const APP_HISTORY = "/api/v1/locations/history";
const PAGE = 1000;
/** More than may run and wait concurrently. */
const ARCHIVE_CONNECTIONS = 96;
/** Unread pages per connection. */
const UNREAD_PAGES = 20;

/** Valid queries with the highest cost. */
export const QUESTIONS: readonly Shape[] = [
  asking("late-rows", "archive questions where a million rows came late", "late", (_, asked) => {
    const order = asked % 2 === 0 ? "asc" : "desc";
    return `${APP_HISTORY}?${days(LATE_DAYS_AGO, LATE_DAYS_AGO)}&limit=1&offset=${(asked % 7) * 1000}&order=${order}`;
  }),
  asking(
    "archive-crowd",
    "96 questions about the archive at once",
    "plain",
    (_, asked) => `${APP_HISTORY}?${days(...ALL_ARCHIVED)}&limit=${PAGE}&offset=${asked % 1000}`,
    ARCHIVE_CONNECTIONS,
  ),
  asking("archive-deep-offsets", "pages far down the archive", "plain", (_, asked) => {
    return `${APP_HISTORY}?${days(...ALL_ARCHIVED)}&limit=${PAGE}&offset=${100_000 + asked}&min_accuracy=10`;
  }),
  asking("app-wide-current", "where all devices are, of a million", "crowd", (target, asked) => {
    return `${APP_CURRENT}?limit=${PAGE}&offset=${(asked * 7919) % target.devices}`;
  }),
  asking("app-wide-filtered", "where devices were after an instant, of a million", "crowd", (_, asked) => {
    return `${APP_CURRENT}?limit=${PAGE}&timestamp_after=${Date.now() - 86_400_000 + asked}`;
  }),
  asking(
    "app-wide-history",
    "a day of all devices, of a million",
    "crowd",
    () => `${APP_HISTORY}?${days(2, 0)}&limit=${PAGE}`,
  ),
  asking("deep-offsets", "the last page of a day of all devices, of a million", "crowd", (target, asked) => {
    return `${APP_HISTORY}?${days(2, 0)}&limit=${PAGE}&offset=${target.devices - PAGE - (asked % PAGE)}&order=desc`;
  }),
  asking(
    "user-of-all-devices",
    "the devices of a user who has a million",
    "crowd",
    () => `/api/v1/users/${CROWD_USER}/devices`,
  ),
  asking("user-current", "where the million devices of a user are", "crowd", () => {
    return `/api/v1/users/${CROWD_USER}/locations/current?limit=${PAGE}&accuracy=5`;
  }),
  asking("user-history", "a day of a user who has a million devices", "crowd", (_, asked) => {
    return `/api/v1/users/${CROWD_USER}/locations/history?${days(2, 0)}&limit=${PAGE}&offset=${asked}`;
  }),
  asking("users-of-a-device", "a user of a device that 100,000 have used", "crowd", (_, asked) => {
    return `/api/v1/users/${SHARED_USER}${asked}/locations/history?${days(2, 0)}`;
  }),
  asking("device-of-many-users", "the path of a device that 100,000 have used", "crowd", (_, asked) => {
    return `/api/v1/devices/${SHARED_DEVICE}/locations/history?${days(2, 0)}&limit=${PAGE}&offset=${asked}&timezone=Asia/Kathmandu`;
  }),
  asking("nearby-crowd", "who is near, where a million are at one place", "crowd", (target, asked) => {
    const { latitude, longitude } = CROWD_PLACE;
    const offset = (asked * 7919) % target.devices;
    return `/api/v1/devices/nearby?latitude=${latitude}&longitude=${longitude}&radius_miles=50&limit=${PAGE}&offset=${offset}&max_age_hours=72`;
  }),
  {
    name: "unread-answers",
    title: "large pages that are never read",
    directory: "crowd",
    arm(target) {
      const page = question(target, `${APP_CURRENT}?limit=${PAGE}`);
      const pages = Buffer.concat(Array.from({ length: UNREAD_PAGES }, () => page));
      const pace = createFreePace();
      const turn = async () => {
        for (let taken = 0; taken < UNREAD_PAGES; taken++) await pace.turn();
      };
      return () => hold(target, (connection) => connection.write(pages), { turn, reads: false });
    },
  },
  {
    name: "beyond-the-rate",
    title: "questions without regard to the rate of the key",
    directory: "plain",
    arm(target) {
      const page = question(target, `${APP_CURRENT}?limit=${PAGE}`);
      return () => flood(target, () => page, 64);
    },
  },
];

const ALL_ARCHIVED = [ARCHIVED_DAYS_AGO_MIN + ARCHIVED_DAYS - 1, ARCHIVED_DAYS_AGO_MIN] as const;

function asking(
  name: string,
  title: string,
  directory: DirectoryName,
  pathOf: (target: Target, asked: number) => string,
  connections?: number,
): Shape {
  return {
    name,
    title,
    directory,
    arm(target) {
      let asked = 0;
      return () => sendAtPace(target, () => question(target, pathOf(target, asked++)), connections);
    },
  };
}

function days(oldestDaysAgo: number, newestDaysAgo: number): string {
  const nowMs = Date.now();
  return `start_date=${dayName(oldestDaysAgo, nowMs)}&end_date=${dayName(newestDaysAgo, nowMs)}`;
}

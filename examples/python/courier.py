#!/usr/bin/env python3
"""A courier on the Liverpool waterfront reports where it is; then we ask where it is, where it was, and who is near.

    WHEREHOUSE_KEY=wh_... python3 examples/python/courier.py [DEVICE]

Needs Python 3.8 or newer and nothing else.
"""

import json
import os
import sys
import time
from datetime import datetime, timezone
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

URL = os.environ.get("WHEREHOUSE_URL", "http://127.0.0.1:3000")
KEY = os.environ.get("WHEREHOUSE_KEY") or sys.exit("WHEREHOUSE_KEY must hold a key that may read and write")
TRIES_MAX = 5
TIMEOUT_SECONDS = 30


def ask(path, body=None, **parameters):
    """Returns the answer. Where the server is busy, or the key has asked too often, waits as long as Retry-After says
    and tries again. That is safe for reports too: one that was stored already changes nothing."""
    query = f"?{urlencode(parameters)}" if parameters else ""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    for tries in range(1, TRIES_MAX + 1):
        try:
            with urlopen(Request(URL + path + query, data, headers), timeout=TIMEOUT_SECONDS) as response:
                return json.load(response)
        except HTTPError as error:
            if error.code not in (429, 503) or tries == TRIES_MAX:
                raise
            error.close()
            time.sleep(int(error.headers.get("Retry-After", 1)))


def history(device_id, start_date, limit=1000):
    """Yields all records since a UTC day, page after page until none follows."""
    offset, has_more = 0, True
    while has_more:
        path = f"/api/v1/devices/{quote(device_id, safe='')}/locations/history"
        page = ask(path, start_date=start_date, limit=limit, offset=offset)
        yield from page["locations"]
        offset += page["pagination"]["count"]
        has_more = page["pagination"]["has_more"]


def utc(timestamp_ms):
    return datetime.fromtimestamp(timestamp_ms / 1000, timezone.utc)


def main(device_id):
    now_ms = time.time_ns() // 1_000_000
    reports = [
        {"device_id": device_id, "timestamp": now_ms - 120_000, "latitude": 53.4010, "longitude": -2.9942},
        {"device_id": device_id, "timestamp": now_ms - 60_000, "latitude": 53.4024, "longitude": -2.9951},
        {"device_id": device_id, "timestamp": now_ms, "latitude": 53.4039, "longitude": -2.9960, "speed": 4.2},
    ]
    stored = ask("/ingest/v1/locations", body={"locations": reports})
    print(f"{stored['accepted']} reports accepted")
    # The status is 200 even where reports were rejected: each one stands alone.
    for rejected in stored["rejected"]:
        print(f"Report {rejected['index']} was rejected: {rejected['message']}", file=sys.stderr)

    location = ask(f"/api/v1/devices/{quote(device_id, safe='')}/locations/current")["location"]
    print(f"{device_id} is at {location['latitude']}, {location['longitude']}")

    # A limit of 2 is only to see a second page.
    for record in history(device_id, utc(reports[0]["timestamp"]).date().isoformat(), limit=2):
        print(f"{utc(record['timestamp']).isoformat()} it was at {record['latitude']}, {record['longitude']}")

    nearby = ask("/api/v1/devices/nearby", latitude=53.404, longitude=-2.996, radius_miles=0.5)
    for found in nearby["results"]:
        print(f"{found['device_id']} is {found['distance_miles']} miles from the ferry")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "courier-1")
    except HTTPError as error:
        message = json.load(error).get("message", error.reason)
        sys.exit(f"{error.code}: {message}")
    except URLError as error:
        sys.exit(f"No answer from {URL}: {error.reason}")

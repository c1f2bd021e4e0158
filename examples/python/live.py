#!/usr/bin/env python3
"""Says where devices are as they move, and misses nothing: a lost connection goes on where it was, and where that is
not possible any more a snapshot is taken.

    WHEREHOUSE_KEY=wh_... python3 examples/python/live.py

Needs Python 3.8 or newer and nothing else.
"""

import json
import os
import sys
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL = os.environ.get("WHEREHOUSE_URL", "http://127.0.0.1:3000")
KEY = os.environ.get("WHEREHOUSE_KEY") or sys.exit("WHEREHOUSE_KEY must hold a key that may read")
SILENCE_SECONDS_MAX = 40  # Something comes every 15 s: a connection that is silent for longer is dead.
RETRY_SECONDS = 2


def ask(path, **headers):
    headers["Authorization"] = f"Bearer {KEY}"
    return urlopen(Request(URL + path, headers=headers), timeout=SILENCE_SECONDS_MAX)


def show(device_id, latitude, longitude):
    print(f"{device_id} {latitude}, {longitude}", flush=True)


def take_snapshot():
    with ask("/api/v1/locations/current/columns") as response:
        columns = json.load(response)
    for row in zip(columns["device_id"], columns["latitude"], columns["longitude"]):
        show(*row)


def listen(last_id):
    """Yields the id to go on from, after each event."""
    with ask("/api/v1/live", **({} if last_id is None else {"Last-Event-ID": last_id})) as stream:
        if last_id is None:
            take_snapshot()  # What moves from now on is in the stream.
        event = {}
        for line in stream:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            event[name] = value
            if line != b"\n":
                continue
            if event.get("event") == "reset":
                take_snapshot()
            else:
                for found in json.loads(event.get("data", "{}")).get("locations", []):
                    show(found["device_id"], found["latitude"], found["longitude"])
            yield event.get("id", last_id)  # Only now: what was not taken must come again.
            event = {}


def main():
    last_id = None
    while True:
        try:
            for last_id in listen(last_id):
                pass
        except (OSError, HTTPException) as error:
            if isinstance(error, HTTPError) and error.code in (400, 401, 403):
                sys.exit(f"{error.code}: {json.load(error)['message']}")
            print(f"{URL}: {error}", file=sys.stderr)
        time.sleep(RETRY_SECONDS)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass

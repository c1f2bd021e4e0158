#!/bin/sh
# A courier on the Liverpool waterfront reports where it is; then we ask where it is, where it was, and who is near.
#
#   WHEREHOUSE_KEY=wh_... examples/curl/courier.sh [DEVICE]
#
# Needs curl 7.76 or newer, and prints every answer as it came.
set -eu

url=${WHEREHOUSE_URL:-http://127.0.0.1:3000}
device=${1:-courier-1} # In a path, anything but letters, digits and -._~ has to be percent-encoded.
: "${WHEREHOUSE_KEY:?must hold a key that may read and write}"

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

show() {
  cat "$answer"
  echo
}

# Sends a request and leaves the answer in the file. The key goes in on standard input, since everybody on the machine
# can read a command line. With --retry curl tries again after a 429 or 503, once the time that Retry-After names is up.
ask() {
  printf 'header = "Authorization: Bearer %s"\n' "$WHEREHOUSE_KEY" |
    curl --config - --silent --show-error --fail-with-body --retry 5 --output "$answer" "$@" || {
    show >&2
    exit 1
  }
}

# The day comes first: if midnight falls between the two lines, the reports are still within the range asked for below.
day=$(date -u +%Y-%m-%d)
second=$(date +%s)
reports=$(
  printf '{"device_id":"%s","timestamp":%s,"latitude":%s,"longitude":%s}\n' \
    "$device" "${second}000" 53.4010 -2.9942 \
    "$device" "${second}300" 53.4024 -2.9951 \
    "$device" "${second}600" 53.4039 -2.9960
)

ask "$url/ingest/v1/locations" --header "Content-Type: application/x-ndjson" --data-binary "$reports"
show
# The status is 200 even where reports were rejected: each one stands alone.
grep -q '"rejected":\[\]' "$answer" || exit 1

ask "$url/api/v1/devices/$device/locations/current"
show

# Page after page, until none follows. Use a limit of up to 1000; 2 is only to see it happen.
offset=0
while
  ask --get "$url/api/v1/devices/$device/locations/history" \
    --data "start_date=$day" --data limit=2 --data "offset=$offset"
  show
  grep -q '"has_more":true' "$answer"
do
  offset=$((offset + 2))
done

ask --get "$url/api/v1/devices/nearby" --data latitude=53.404 --data longitude=-2.996 --data radius_miles=0.5
show

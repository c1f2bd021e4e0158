/** A time zone in which it is between 12:00 and 13:00, so that its day did not begin just now and does not end soon. */
export function noonZone(): string {
  const hoursBehind = new Date().getUTCHours() - 12;
  return `Etc/GMT${hoursBehind < 0 ? "" : "+"}${hoursBehind}`; // The names count hours behind UTC as positive.
}

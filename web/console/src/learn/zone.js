// The server counts days in the student's time zone, which this cookie tells it. Without the cookie, it counts in UTC.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const isKnown = zone === "UTC" && !document.cookie.includes("lyceum-zone=");
if (zone && !isKnown && !document.cookie.includes(`lyceum-zone=${zone}`)) {
  document.cookie = `lyceum-zone=${zone}; path=/; max-age=31536000; samesite=lax`;
  if (document.cookie.includes(`lyceum-zone=${zone}`)) location.reload();
}

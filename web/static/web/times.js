// Shows times in the reader's zone, with the zone. Without JavaScript they are in UTC.

const local = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});

export function showLocal(root) {
  for (const time of root.querySelectorAll("time[datetime*='T']")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title ||= time.textContent.trim();
    time.textContent = local.format(at);
  }
}

showLocal(document);

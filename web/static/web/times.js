// Shows times in the reader's zone, with it. Without JavaScript they are in UTC.

const local = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});

const clock = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});

/** Returns whether a time stands below its own day: the pages group by days of UTC. @param {Date} at */
const isSameDay = (at) => at.getDate() === at.getUTCDate();

/**
 * Shows each time of a part in the reader's zone; those with data-clock without their day.
 * @param {ParentNode} root
 */
export function showLocal(root) {
  for (const time of root.querySelectorAll("time")) {
    if (!time.dateTime.includes("T")) continue;
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title ||= (time.textContent ?? "").trim();
    const isBelowDay = "clock" in time.dataset && isSameDay(at);
    time.textContent = (isBelowDay ? clock : local).format(at);
  }
}

showLocal(document);

// Fetches JSON or a page; throws `StatusError` if the answer is no success.

import { StatusError } from "./failures.js";

/** @param {string} address @param {string} type */
async function fetched(address, type) {
  const answer = await fetch(address, { headers: { Accept: type } });
  if (!answer.ok) throw new StatusError(answer);
  return answer;
}

/** @param {string} address */
export async function fetchJson(address) {
  return (await fetched(address, "application/json")).json();
}

/** @param {string} address */
export async function fetchPage(address) {
  const text = await (await fetched(address, "text/html")).text();
  return new DOMParser().parseFromString(text, "text/html");
}

/** Durations as Go writes them (`90s`, `1m30s`, `1.5h`), which is how Runs carry their timeouts and back-offs. In milliseconds here. */
const UNITS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const PART = /([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)/gy;

/** @returns undefined when the text is no duration, or a negative one */
export function parseGoDuration(text: string): number | undefined {
  return text.startsWith('-') ? undefined : parseSignedGoDuration(text);
}

/** Durations that may go back. @returns undefined when the text is no duration */
export function parseSignedGoDuration(text: string): number | undefined {
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  if (unsigned === '0') return 0;
  let milliseconds = 0;
  let read = 0;
  for (const part of unsigned.matchAll(PART)) {
    milliseconds += Number(part[1]) * UNITS[part[2]];
    read += part[0].length;
  }
  if (read === 0 || read !== unsigned.length) return undefined;
  return text.startsWith('-') ? -milliseconds : milliseconds;
}

/** As Go prints it: `1m30s`, `500ms`, `0s`. */
export function formatGoDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0s';
  if (milliseconds < 1) return milliseconds < 1e-3 ? `${round(milliseconds * 1e6)}ns` : `${round(milliseconds * 1e3)}µs`;
  if (milliseconds < 1000) return `${round(milliseconds)}ms`;
  const hours = Math.floor(milliseconds / UNITS['h']);
  const minutes = Math.floor((milliseconds % UNITS['h']) / UNITS['m']);
  const seconds = `${round((milliseconds % UNITS['m']) / 1000)}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/** Nanoseconds are the smallest thing that Go knows. */
function round(value: number): number {
  return Number(value.toFixed(9));
}

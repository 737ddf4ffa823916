import type { Run } from '../../api/kruntimes.io/v1alpha1/run.ts';

export interface StoredOutput {
  text: string;
  /** There was more before it. */
  truncated: boolean;
}

/** What was kept of a Run's output: in its status, or in the ConfigMap that this names. @returns undefined when nothing was kept */
export async function storedOutput(
  run: Run,
  configMapData: (name: string) => Promise<Record<string, string> | undefined>,
): Promise<StoredOutput | undefined> {
  const log = run.status?.log;
  if (log === undefined) return undefined;
  if (log.configMapName !== undefined) {
    const text = (await configMapData(log.configMapName))?.log;
    // It may hold all that the status had no room for; the exact size is what it was cut to.
    if (text !== undefined) return { text, truncated: Buffer.byteLength(text) >= KEPT_BYTES };
  }
  return { text: log.text, truncated: log.truncated === true };
}

/** A little less than runtimed keeps at most: it does not cut characters in half. */
const KEPT_BYTES = (512 << 10) - 4;

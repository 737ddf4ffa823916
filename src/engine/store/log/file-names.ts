/** Segment N continues segment N-1; snapshot N holds everything before segment N. */
export function segmentName(number: number): string {
  return `segment-${String(number).padStart(10, '0')}.log`;
}

export function snapshotName(number: number): string {
  return `snapshot-${String(number).padStart(10, '0')}.snap`;
}

export interface LogFiles {
  /** Numbers, ascending. */
  segments: number[];
  snapshots: number[];
  /** Left by something that did not finish. */
  temporary: string[];
}

export function classifyFiles(names: readonly string[]): LogFiles {
  const files: LogFiles = { segments: [], snapshots: [], temporary: [] };
  for (const name of names) {
    const match = /^(segment|snapshot)-(\d{10,})\.(log|snap)(\.tmp)?$/.exec(name);
    if (!match) continue;
    if (match[4]) files.temporary.push(name);
    else (match[1] === 'segment' ? files.segments : files.snapshots).push(Number(match[2]));
  }
  files.segments.sort((a, b) => a - b);
  files.snapshots.sort((a, b) => a - b);
  return files;
}

import { type FileSystem, type OpenFile, removeIfThere } from '../files/file-system.ts';
import { StoreError } from '../store.ts';
import { DurableView, type HistoryLimit } from '../versions/durable-view.ts';
import { Version } from '../versions/version.ts';
import { BlockReader } from './block-reader.ts';
import { committedBehind } from './damage-scan.ts';
import { classifyFiles, type LogFiles, segmentName, snapshotName } from './file-names.ts';
import type { EarlierSegment } from './log-writer.ts';
import { replaySegment } from './replay.ts';
import { decodeSegmentHeader, SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment-header.ts';
import { decodeSnapshot, SnapshotDamage } from './snapshot-decoding.ts';
import type { StoredValues } from './stored-values.ts';

export interface Recovered {
  view: DurableView;
  /** The last segment, open for appending behind `length`. */
  file: OpenFile;
  header: SegmentHeader;
  length: number;
  /** The segments between the snapshot and the last one. */
  earlier: EarlierSegment[];
  /** Where it began, and the size of the snapshot there; none yet: 0 bytes. */
  snapshot: { number: number; bytes: number };
}

interface Segment {
  header: SegmentHeader;
  size: number;
}

export interface RecoveryOptions {
  fileSystem: FileSystem;
  directory: string;
  values: StoredValues;
  historyLimit: HistoryLimit;
}

/** Rebuilds the state from the newest valid snapshot and the segments behind it, and leaves only what is still needed on disk. */
export async function recover(options: RecoveryOptions): Promise<Recovered> {
  const files = classifyFiles(await options.fileSystem.list(options.directory));
  const { view, first, snapshotBytes } = await loadSnapshot(options, files);
  const segments = await readHeaders(options, files, first);
  const recovered = await replaySegments(options, view, segments);
  await removeSuperseded(options, files, first, segments[segments.length - 1].header.number);
  return { ...recovered, view, snapshot: { number: first, bytes: snapshotBytes } };
}

async function loadSnapshot(
  options: RecoveryOptions,
  files: LogFiles,
): Promise<{ view: DurableView; first: number; snapshotBytes: number }> {
  let damage: unknown;
  for (const number of files.snapshots.toReversed()) {
    // An older snapshot is good only as long as the segments behind it are still there.
    if (damage !== undefined && !files.segments.includes(number)) break;
    try {
      return { ...(await readSnapshot(options, snapshotName(number))), first: number };
    } catch (error) {
      if (!(error instanceof SnapshotDamage)) throw error;
      if (error.newerVersion) throw newerSnapshot(options.directory, error);
      damage ??= corrupt(options.directory, `${snapshotName(number)} is damaged: ${error.message}`, error);
    }
  }
  if (damage !== undefined) throw damage;
  return { view: new DurableView(options.historyLimit), first: 1, snapshotBytes: 0 };
}

async function readSnapshot(options: RecoveryOptions, name: string): Promise<{ view: DurableView; snapshotBytes: number }> {
  const view = new DurableView(options.historyLimit);
  const file = await options.fileSystem.open(`${options.directory}/${name}`, 'read');
  let read = 0;
  const reader = new BlockReader(async (blocks) => {
    const count = await file.read(blocks, read);
    read += count;
    return count;
  });
  try {
    const revision = await decodeSnapshot(reader, (key, revision, createdRevision, sealed, from, start, end) => {
      const bytes = options.values.fromStored(key, sealed, from, start, end);
      view.load(new Version(key, bytes, revision, createdRevision, false));
    });
    view.startAt(revision);
    return { view, snapshotBytes: read };
  } finally {
    await reader.stop();
    await file.close();
  }
}

/** The segments from `first` on. The last may be one whose creation a crash cut short; nothing was ever committed to that one. */
async function readHeaders(options: RecoveryOptions, files: LogFiles, first: number): Promise<Segment[]> {
  const numbers = files.segments.filter((number) => number >= first);
  const segments: Segment[] = [];
  for (const [index, number] of numbers.entries()) {
    if (number !== first + index) throw corrupt(options.directory, `${segmentName(first + index)} is missing`);
    const segment = await readHeader(options, number);
    if (segment.header) segments.push({ header: segment.header, size: segment.size });
    else if (index === 0 || index < numbers.length - 1 || segment.size > SEGMENT_HEADER_BYTES) {
      throw corrupt(options.directory, `the header of ${segmentName(number)} is damaged`);
    }
  }
  if (segments.length === 0) throw corrupt(options.directory, `${segmentName(first)} is missing`);
  return segments;
}

async function readHeader(options: RecoveryOptions, number: number): Promise<{ header: SegmentHeader | undefined; size: number }> {
  const file = await options.fileSystem.open(`${options.directory}/${segmentName(number)}`, 'read');
  try {
    const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
    const count = await file.read([bytes], 0);
    const header = decodeSegmentHeader(bytes.subarray(0, count));
    return { header: header?.number === number ? header : undefined, size: await file.size() };
  } finally {
    await file.close();
  }
}

async function replaySegments(
  options: RecoveryOptions,
  view: DurableView,
  segments: readonly Segment[],
): Promise<Omit<Recovered, 'view' | 'snapshot'>> {
  const earlier: EarlierSegment[] = [];
  for (const [index, { header, size }] of segments.entries()) {
    const next = segments[index + 1];
    const name = segmentName(header.number);
    // A restored store begins behind its snapshot, so that revisions seen before the restore do not come back.
    if (index === 0 && header.baseRevision > view.revision) view.startAt(header.baseRevision);
    if (header.baseRevision !== view.revision) {
      throw corrupt(options.directory, `${name} continues revision ${header.baseRevision} and not ${view.revision}`);
    }
    const file = await options.fileSystem.open(`${options.directory}/${name}`, next ? 'read' : 'appendLog');
    try {
      if (next) {
        const length = await replayWhole(options, file, header, size, next.header.previousLength, view);
        earlier.push({ number: header.number, length });
        await file.close();
        continue;
      }
      const length = await replayLast(options, file, header, size, view);
      return { file, header, length, earlier };
    } catch (error) {
      await file.close();
      throw error;
    }
  }
  throw new Error('unreachable: there is always a last segment');
}

async function replayWhole(
  options: RecoveryOptions,
  file: OpenFile,
  header: SegmentHeader,
  size: number,
  committed: number,
  view: DurableView,
): Promise<number> {
  const name = segmentName(header.number);
  if (size < committed) throw corrupt(options.directory, `${name} has ${size} bytes and had ${committed}`);
  const { length, end } = await replaySegment(file, header, committed, view, options.values);
  if (end !== 'clean') throw corrupt(options.directory, `${name} is ${end} at byte ${length}`);
  return length;
}

/** Only here can a power cut have torn something: the batch that was being written. It was never acknowledged and goes. */
async function replayLast(
  options: RecoveryOptions,
  file: OpenFile,
  header: SegmentHeader,
  size: number,
  view: DurableView,
): Promise<number> {
  const { length, end } = await replaySegment(file, header, size, view, options.values);
  if (end === 'out of order') throw corrupt(options.directory, `${segmentName(header.number)} is out of order at byte ${length}`);
  if (end === 'damaged') {
    if (await committedBehind(file, header.mark, length, size)) {
      throw corrupt(options.directory, `${segmentName(header.number)} is damaged at byte ${length} and committed writes follow`);
    }
    await file.truncate(length);
  }
  // A process that was killed between a write and its sync left a batch that readers will see from now on: it must not vanish again.
  await file.datasync();
  return length;
}

async function removeSuperseded(options: RecoveryOptions, files: LogFiles, first: number, last: number): Promise<void> {
  const names = [
    ...files.temporary,
    ...files.segments.filter((number) => number < first || number > last).map(segmentName),
    ...files.snapshots.filter((number) => number !== first).map(snapshotName),
  ];
  for (const name of names) await removeIfThere(options.fileSystem, `${options.directory}/${name}`);
  // Also for the names that a killed process made and did not sync.
  await options.fileSystem.syncDirectory(options.directory);
}

export function corrupt(directory: string, state: string, cause?: unknown): StoreError {
  return new StoreError('Corrupt', `Cannot open the store in "${directory}": ${state}; restore a backup into an empty directory`, {
    cause,
  });
}

function newerSnapshot(directory: string, cause: SnapshotDamage): StoreError {
  return new StoreError('NewerFormat', `Cannot open the store in "${directory}": ${cause.message}; use the release that wrote it`, {
    cause,
  });
}

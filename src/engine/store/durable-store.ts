import { randomBytes } from 'node:crypto';
import { FORMAT_FILE, readFormat, writeFormat } from './directory/format.ts';
import { acquireLock } from './directory/lock.ts';
import { type ProcessTable, processTable } from '../../lib/process-table.ts';
import { type FileSystem, removeIfThere } from './files/file-system.ts';
import { nodeFileSystem } from './files/node-file-system.ts';
import { classifyFiles, segmentName } from './log/file-names.ts';
import { LogJournal } from './log/log-journal.ts';
import { LogWriter } from './log/log-writer.ts';
import { corrupt, recover, type Recovered } from './log/recovery.ts';
import { createSegment } from './log/segment-file.ts';
import { MARK_BYTES, SEGMENT_HEADER_BYTES } from './log/segment-header.ts';
import { type Sealing, StoredValues } from './log/stored-values.ts';
import { StagedStore } from './staged-store.ts';
import type { Store } from './store.ts';
import type { StoreStats } from './store-stats.ts';
import { DEFAULT_HISTORY_LIMIT, type DurableView, type HistoryLimit } from './versions/durable-view.ts';

export interface OpenStoreOptions {
  /** Where the owner can be reached; told to whoever finds the directory taken. */
  address?: string;
  historyLimit?: Partial<HistoryLimit>;
  sealing?: Sealing;
  /** The log may grow this large, or as large as the live data, before a snapshot replaces it. */
  snapshotAfterBytes?: number;
  fileSystem?: FileSystem;
  processes?: ProcessTable;
  /** Wall clock, in milliseconds. */
  now?: () => number;
  /** A clock that only goes forward, in milliseconds. */
  monotonicNow?: () => number;
  randomBytes?: (size: number) => Buffer;
}

export interface DurableStore extends Store {
  stats(): StoreStats;
  /** From now on a write that would take live data over it is refused with `StoreFull`; what is there already stays. */
  limitLiveBytes(maxBytes: number): void;
  /** Replaces the log by a snapshot now, for example so that everything is sealed with a new key. */
  snapshot(): Promise<void>;
}

const SNAPSHOT_AFTER_BYTES = 64 * 1024 * 1024;

/** Opens the store in `directory`, or makes one. @throws StoreError `Locked`, `Corrupt`, `NewerFormat` */
export async function openStore(directory: string, options: OpenStoreOptions = {}): Promise<DurableStore> {
  const fileSystem = options.fileSystem ?? nodeFileSystem;
  const random = options.randomBytes ?? randomBytes;
  await fileSystem.makeDirectory(directory);
  const release = await acquireLock({
    fileSystem,
    directory,
    processes: options.processes ?? processTable,
    address: options.address,
    now: options.now ?? Date.now,
    randomBytes: random,
  });
  try {
    if ((await readFormat(fileSystem, directory)) === undefined) await initialise(fileSystem, directory, random);
    const values = new StoredValues(options.sealing);
    const historyLimit = { ...DEFAULT_HISTORY_LIMIT, ...options.historyLimit };
    const recovered = await recover({ fileSystem, directory, values, historyLimit });
    const journal = makeJournal(fileSystem, directory, options, values, recovered);
    return new LogStore(recovered.view, journal, release);
  } catch (error) {
    await release();
    throw error;
  }
}

class LogStore extends StagedStore implements DurableStore {
  readonly #journal: LogJournal;
  readonly #release: () => Promise<void>;

  constructor(view: DurableView, journal: LogJournal, release: () => Promise<void>) {
    super(view, journal);
    this.#journal = journal;
    this.#release = release;
  }

  stats(): StoreStats {
    return this.#journal.stats();
  }

  async snapshot(): Promise<void> {
    let begun: { finished: Promise<void> } | undefined;
    await this.betweenCommits(async () => {
      begun = await this.#journal.beginSnapshot();
    });
    await begun?.finished;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#release();
  }
}

function makeJournal(
  fileSystem: FileSystem,
  directory: string,
  options: OpenStoreOptions,
  values: StoredValues,
  recovered: Recovered,
): LogJournal {
  const { view, file, header, length, earlier, snapshot } = recovered;
  const writer = new LogWriter({ fileSystem, directory, file, header, length, earlier, randomBytes: options.randomBytes ?? randomBytes });
  return new LogJournal({
    fileSystem,
    directory,
    view,
    values,
    writer,
    snapshot,
    snapshotAfterBytes: options.snapshotAfterBytes ?? SNAPSHOT_AFTER_BYTES,
    now: options.monotonicNow ?? (() => performance.now()),
  });
}

/** A first segment, then the format: what a crash leaves in between is made again. */
async function initialise(fileSystem: FileSystem, directory: string, random: (size: number) => Buffer): Promise<void> {
  const { segments, snapshots } = classifyFiles(await fileSystem.list(directory));
  const untouched = segments.length === 0 || (segments.length === 1 && segments[0] === 1 && (await isUnused(fileSystem, directory)));
  if (snapshots.length > 0 || !untouched) {
    throw corrupt(directory, `its ${FORMAT_FILE} is missing (a restore that did not finish leaves it so)`);
  }
  await removeIfThere(fileSystem, `${directory}/${segmentName(1)}`);
  const file = await createSegment(fileSystem, directory, { number: 1, baseRevision: 0, previousLength: 0, mark: random(MARK_BYTES) });
  await file.close();
  await writeFormat(fileSystem, directory);
}

async function isUnused(fileSystem: FileSystem, directory: string): Promise<boolean> {
  const file = await fileSystem.open(`${directory}/${segmentName(1)}`, 'read');
  try {
    return (await file.size()) <= SEGMENT_HEADER_BYTES;
  } finally {
    await file.close();
  }
}

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramEnd } from '../shim.ts';
import type { ProcessIdentity } from '../system/process-identity.ts';
import type { Written } from '../wire/messages.ts';

/** What is known of a program without the shim: enough to tell its end after the shim itself was killed. */
export interface ProgramRecord {
  id: string;
  labels: Record<string, string>;
  main: ProcessIdentity;
  /** Whether `main` leads a session of its own, made by the shim. */
  ownSession: boolean;
  startedAt: string;
  end?: Written<ProgramEnd>;
}

const SUFFIX = '.json';
/** The ids become file names. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,230}$/;

export function isSafeId(id: string): boolean {
  return SAFE_ID.test(id);
}

/** One small file per program. Written at once and without waiting for the disk: a machine that loses power loses the programs too. */
export class Records {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  readAll(): ProgramRecord[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(SUFFIX))
      .flatMap((name) => {
        try {
          return [JSON.parse(readFileSync(join(this.#folder, name), 'utf8')) as ProgramRecord];
        } catch {
          // Renamed into place when complete, so this is not one of ours.
          return [];
        }
      });
  }

  write(record: ProgramRecord): void {
    const path = this.#path(record.id);
    writeFileSync(`${path}.tmp`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
  }

  remove(id: string): void {
    rmSync(this.#path(id), { force: true });
  }

  #path(id: string): string {
    return join(this.#folder, `${id}${SUFFIX}`);
  }
}

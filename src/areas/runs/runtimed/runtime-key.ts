import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEY_FILE } from '../protocol/runtime-key.ts';

/** The word that a Runtime Server with `process` isolation wants to hear; Runs, which may reach its port, do not see the file. */
export interface RuntimeKey {
  /** Undefined: the server has asked for none so far. */
  current(): string | undefined;
  /** The server did not take it: it is looked up again. */
  refused(): void;
}

export function runtimeKey(workspace: string): RuntimeKey {
  let known: string | undefined;
  return {
    current: () => (known ??= read(join(workspace, KEY_FILE))),
    refused() {
      known = undefined;
    },
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

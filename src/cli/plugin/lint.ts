import { manifestJsonSchema } from '../../api/adapstory.com/v1/manifest-json-schema.ts';
import type { Problem } from './manifest-text.ts';
import { readPluginFolder, type PluginFolder } from './plugin-folder.ts';

/** Where a command that needs no cluster writes to. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}

/** Says what is wrong with a plugin, a line each. @returns the exit code */
export async function lint(terminal: Terminal, path: string, { schema }: { schema?: boolean }): Promise<number> {
  if (schema) {
    terminal.out(`${JSON.stringify(manifestJsonSchema(), undefined, 2)}\n`);
    return 0;
  }
  const { manifest, problems } = await readPluginFolder(path);
  for (const problem of problems) terminal.out(`${problemLine(problem)}\n`);
  if (problems.length > 0) terminal.err(`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}\n`);
  else terminal.out(`${manifest!.metadata.publisher}/${manifest!.metadata.name}@${manifest!.metadata.version} is fine\n`);
  return problems.length > 0 ? 1 : 0;
}

/** A plugin without problems. @throws Error with all of them */
export async function readGoodPlugin(path: string, doing: string): Promise<Required<Pick<PluginFolder, 'manifest' | 'files'>>> {
  const { manifest, files, problems } = await readPluginFolder(path);
  if (manifest && problems.length === 0) return { manifest, files };
  throw new Error(
    `Cannot ${doing}: the plugin has problems; correct them first\n${problems.map((each) => `  ${problemLine(each)}`).join('\n')}`,
  );
}

/** As compilers write it, so that editors find the place. */
function problemLine({ file, line, column, message }: Problem): string {
  // oxlint-disable-next-line no-control-regex -- what is in a file goes to terminals
  return `${file}:${line}:${column}: ${message.replace(/[\x00-\x1f\x7f]/g, ' ')}`;
}

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readManifest } from './manifest-text.ts';
import type { Terminal } from './lint.ts';
import { sampleFiles } from './sample-plugin.ts';

/** Writes a small plugin to start from. Nothing that is there is touched. @returns the exit code */
export async function init(terminal: Terminal, folder: string, flags: { name: string; publisher: string; image: string }): Promise<number> {
  const files = sampleFiles(flags);
  const [problem] = readManifest(files['plugin.yaml'], 'plugin.yaml').problems;
  if (problem) throw new Error(`Cannot make the plugin "${flags.name}": ${problem.message}`);
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    try {
      await writeFile(file, text, { flag: 'wx' });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
      throw new Error(`Cannot write "${file}": it is there already; name an empty folder`, { cause });
    }
    terminal.out(`${file}\n`);
  }
  const image = `${flags.image}:0.1.0`;
  terminal.err(
    [
      '',
      `  docker build -t ${image} ${folder} && docker push ${image}`,
      `  tenantry plugin sign ${folder} --key ${flags.publisher}.key --generate-key > publisher.yaml`,
      '  kubectl apply -f publisher.yaml',
      `  tenantry plugin publish ${folder}`,
      '',
    ].join('\n'),
  );
  return 0;
}

import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, type Command, Option } from 'commander';

interface Flags {
  language: 'bash' | 'python' | 'node';
  programs?: string;
  workDir?: string;
  keyFile?: string;
}

/** `krt runtime conformance <address>`: whether a Runtime Server does what runtimed relies on. */
export function addConformanceCommand(runtime: Command): void {
  runtime
    .command('conformance')
    .description('check a Runtime Server against the protocol: every call, every code, and what is easily forgotten')
    .addArgument(new Argument('<address>', 'where it listens: host:port'))
    .addOption(new Option('--language <name>', 'what its programs are written in').choices(['bash', 'python', 'node']).default('bash'))
    .option('--programs <file>', 'JSON with the programs for another language (docs/guide/runtime-servers.md)')
    .option('--work-dir <folder>', 'a folder that the server sees at the same path (default: one in the temporary folder)')
    .option('--key-file <file>', 'for servers with `process` isolation: the file .runtime-key in their folder of Runs')
    .action(conformance);
}

async function conformance(address: string, flags: Flags): Promise<void> {
  const [{ runConformance, conforms, line, summary }, { PROGRAMS }] = await Promise.all([
    import('../areas/runs/servers/conformance/run-conformance.ts'),
    import('../areas/runs/servers/conformance/programs.ts'),
  ]);
  const results = await runConformance({
    address,
    programs: flags.programs === undefined ? PROGRAMS[flags.language] : JSON.parse(readFileSync(flags.programs, 'utf8')),
    workDir: flags.workDir ?? join(tmpdir(), 'krt-conformance'),
    key: flags.keyFile === undefined ? undefined : readFileSync(flags.keyFile, 'utf8').trim(),
    tell: (result) => console.log(line(result)),
  });
  console.log(`\n${summary(results)}`);
  if (!conforms(results)) process.exitCode = 1;
}

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { RUNTIME_PORT, WORKSPACE_PATH } from '../api/kruntimes.io/v1alpha1/names.ts';
import { LIMITS_UNAVAILABLE } from '../areas/runs/protocol/error-texts.ts';
import { KEY_FILE } from '../areas/runs/protocol/runtime-key.ts';
import { Executions } from '../areas/runs/servers/executions.ts';
import { LANGUAGES, type Language, type LanguageName } from '../areas/runs/servers/language.ts';
import type { Launcher } from '../areas/runs/servers/launcher.ts';
import { withoutInterpreter } from '../areas/runs/servers/not-started.ts';
import { openProcessLauncher } from '../areas/runs/servers/process-launcher.ts';
import { listen, runtimeService } from '../areas/runs/servers/runtime-service.ts';
import { createSharedLauncher } from '../areas/runs/servers/shared-launcher.ts';
import { realClock } from '../lib/clock.ts';
import { reportFailure } from './report-failure.ts';

const { POD_IP, PATH = '/usr/local/bin:/usr/bin:/bin', LANG = 'C.UTF-8', TMPDIR = '/tmp', TENANTRY_ROOT = '' } = process.env;

interface Flags {
  host?: string;
  port: string;
  workDir: string;
  warmWorkers: string;
  isolation: 'shared' | 'process';
  network: boolean;
  runMemory?: string;
  runCpu?: string;
  runProcesses: string;
  runTemporary: string;
}

interface Means {
  launcher?: Launcher;
  /** Why nothing can be started. */
  problem?: string;
  note: string;
}

/** A Runtime Server, the program of the images `tenantry.dev/runtime-bash`, `-python` and `-node`. */
async function main(name: LanguageName, flags: Flags): Promise<void> {
  const language = LANGUAGES[name];
  const { launcher, problem, note } = await meansOf(language, flags);
  const executions = new Executions({ language, launcher: launcher ?? noLauncher, clock: realClock, root: TENANTRY_ROOT });
  const server = runtimeService({
    executions,
    isolation: flags.isolation,
    // Runs of their own user may be let to the network, and so to our port.
    key: flags.isolation === 'process' && launcher !== undefined ? makeKey(TENANTRY_ROOT + flags.workDir) : undefined,
    refusal: launcher === undefined ? problem : undefined,
    health: () => (problem === undefined ? { healthy: true, message: 'ok' } : { healthy: false, message: problem }),
  });
  const host = flags.host ?? POD_IP ?? '0.0.0.0';
  const port = await listen(server, `${host.includes(':') ? `[${host}]` : host}:${flags.port}`);
  process.stdout.write(`runtime-server: ${name} on ${host}:${port}, isolation ${flags.isolation}${note}\n`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // Runs that are under way are runtimed's to wait for: it goes first, and takes its time.
    process.once(signal, () => {
      executions.close().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
}

async function meansOf(language: Language, flags: Flags): Promise<Means> {
  const { interpreter } = language;
  if (spawnSync(interpreter, ['--version'], { stdio: 'ignore' }).error !== undefined) {
    const problem = `interpreter not found: ${interpreter}`;
    return { launcher: withoutInterpreter(interpreter), problem, note: `: ${problem}` };
  }
  const warmWorkers = Number(flags.warmWorkers);
  if (flags.isolation === 'shared') {
    if (flags.runMemory !== undefined || flags.runCpu !== undefined) {
      return withoutLimits('isolation "shared" has none; choose isolation "process"');
    }
    const baseEnv = { PATH, LANG, TMPDIR, HOME: '/tmp' };
    return { launcher: createSharedLauncher({ language, baseEnv, warmWorkers }), note: '' };
  }
  const opened = await openProcessLauncher({
    language,
    baseEnv: { PATH, LANG, TMPDIR: '/tmp', HOME: '/tmp' },
    warmWorkers,
    network: flags.network,
    workspace: TENANTRY_ROOT + flags.workDir,
    limits: {
      memoryBytes: flags.runMemory === undefined ? undefined : Number(flags.runMemory),
      cpuMillis: flags.runCpu === undefined ? undefined : Number(flags.runCpu),
      processes: Number(flags.runProcesses),
    },
    temporaryBytes: Number(flags.runTemporary),
    programs: [process.execPath],
    clock: realClock,
  });
  if ('launcher' in opened) return { launcher: opened.launcher, note: `; ${opened.limits}` };
  if ('limitsUnavailable' in opened) return withoutLimits(opened.limitsUnavailable);
  const text = `IsolationUnavailable: isolation "process" cannot be given: ${opened.unavailable}`;
  return { problem: text, note: `: ${text}` };
}

/** Nothing runs without the limits that were asked for. */
function withoutLimits(reason: string): Means {
  const problem = `${LIMITS_UNAVAILABLE}: limits per Run cannot be given: ${reason}`;
  return { problem, note: `: ${problem}` };
}

/** The one that a server before us made stays: runtimed knows it. */
function makeKey(workspace: string): string {
  const path = join(workspace, KEY_FILE);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    const key = randomBytes(32).toString('hex');
    writeFileSync(path, key, { mode: 0o444, flag: 'wx' });
    return key;
  }
}

/** Executions are refused before they get here. */
const noLauncher: Launcher = {
  launch() {
    throw new Error('nothing can be started');
  },
  close() {},
};

new Command('runtime-server')
  .addArgument(new Argument('<language>', 'what programs are written in').choices(Object.keys(LANGUAGES)))
  .option('--host <address>', 'where to listen: the address of the Pod, else everywhere')
  .option('--port <port>', 'on which port', String(RUNTIME_PORT))
  .option('--work-dir <folder>', 'where the folders of Runs are', WORKSPACE_PATH)
  .option('--warm-workers <count>', 'interpreters kept waiting', '4')
  .addOption(new Option('--isolation <kind>', 'how Runs are kept apart').choices(['shared', 'process']).default('shared'))
  .option('--network', 'for `process`: have interpreters waiting that reach the network', false)
  .option('--run-memory <bytes>', 'for `process`: most memory of a Run (default: 3/4 of what the container has)')
  .option('--run-cpu <millicores>', 'for `process`: most CPU time of a Run')
  .option('--run-processes <count>', 'for `process`: most processes and threads of a Run', '512')
  .option('--run-temporary <bytes>', 'for `process`: what a Run can write to /tmp, and to /dev/shm', String(256 << 20))
  .action(main)
  .parseAsync()
  .catch((error: unknown) => reportFailure('runtime-server', error));

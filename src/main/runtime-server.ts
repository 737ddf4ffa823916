import { spawnSync } from 'node:child_process';
import { Argument, Command } from 'commander';
import { RUNTIME_PORT } from '../api/kruntimes.io/v1alpha1/names.ts';
import { Executions } from '../areas/runs/servers/executions.ts';
import { LANGUAGES, type LanguageName } from '../areas/runs/servers/language.ts';
import { listen, runtimeService } from '../areas/runs/servers/runtime-service.ts';
import { createSharedLauncher } from '../areas/runs/servers/shared-launcher.ts';
import { realClock } from '../lib/clock.ts';
import { reportFailure } from './report-failure.ts';

const { POD_IP, PATH = '/usr/local/bin:/usr/bin:/bin', LANG = 'C.UTF-8', TMPDIR = '/tmp', TENANTRY_ROOT = '' } = process.env;

/** A Runtime Server, the program of the images `tenantry.dev/runtime-bash`, `-python` and `-node`. */
async function main(name: LanguageName, flags: { host?: string; port: string; warmWorkers: string }): Promise<void> {
  const language = LANGUAGES[name];
  const missing = spawnSync(language.interpreter, ['--version'], { stdio: 'ignore' }).error !== undefined;
  const launcher = createSharedLauncher({
    language,
    baseEnv: { PATH, LANG, TMPDIR, HOME: '/tmp' },
    warmWorkers: missing ? 0 : Number(flags.warmWorkers),
  });
  const executions = new Executions({ language, launcher, clock: realClock, root: TENANTRY_ROOT });
  const server = runtimeService({
    executions,
    isolation: 'shared',
    health: () =>
      missing ? { healthy: false, message: `interpreter not found: ${language.interpreter}` } : { healthy: true, message: 'ok' },
  });
  const host = flags.host ?? POD_IP ?? '0.0.0.0';
  const port = await listen(server, `${host.includes(':') ? `[${host}]` : host}:${flags.port}`);
  process.stdout.write(`runtime-server: ${name} on ${host}:${port}\n`);
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

new Command('runtime-server')
  .addArgument(new Argument('<language>', 'what programs are written in').choices(Object.keys(LANGUAGES)))
  .option('--host <address>', 'where to listen: the address of the Pod, else everywhere')
  .option('--port <port>', 'on which port', String(RUNTIME_PORT))
  .option('--work-dir <folder>', 'accepted for compatibility: requests name their folder')
  .option('--warm-workers <count>', 'interpreters kept waiting', '4')
  .action(main)
  .parseAsync()
  .catch((error: unknown) => reportFailure('runtime-server', error));

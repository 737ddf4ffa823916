import { Command, Option } from 'commander';
import { collect, FORMATS, inSession } from './cluster-commands.ts';
import { addConformanceCommand } from './runtime-conformance.ts';

const output = (command: Command): Command => command.option('-o, --output <format>', FORMATS);
const everywhere = (command: Command): Command => command.option('-A, --all-namespaces', 'in all namespaces');

function choosing(command: Command): Command {
  return command
    .option('--runtime <runtime>', 'only those of this Runtime')
    .option('--phase <phase>', 'only those in this phase')
    .option('-l, --selector <labels>', 'only those with these labels');
}

/** Every command on Runs, Runtimes and artifacts. */
export function addKrtCommands(parent: Command): void {
  addRunCommand(parent);
  addReadingCommands(parent);
  addChangingCommands(parent);
  addArtifactCommands(parent);
  addRuntimeCommands(parent);
  addNamesCommand(parent);
}

/** For completion scripts: names of objects, for the cluster and namespace that were typed so far. Silent when there is none. */
function addNamesCommand(parent: Command): void {
  parent
    .command('__names', { hidden: true })
    .argument('<kind>')
    .argument('[words...]')
    .action(async (kind: string, words: string[]) => {
      const { nameFlags, printNames } = await import('../cli/krt/names.ts');
      await inSession(nameFlags(words), (session) => printNames(session, kind)).catch(() => {});
    });
}

/** `krt run`, which is also `tenantry run`. */
export function addRunCommand(parent: Command): Command {
  const name = parent.name();
  return output(parent.command('run'))
    .argument('[command...]', 'what to run; after -- if it has options of its own')
    .description('run a command or a script on a warm Pod')
    .option('-r, --runtime <runtime>', 'the Runtime that takes it (default: bash, or what the name of the script says)')
    .option('-f, --file <file>', 'a script to run; - reads it from standard input')
    .option('--repo-url <url>', 'a git repository to run from')
    .option('--commit-sha <ref>', 'commit, branch or tag of the repository')
    .option('--git-secret <name>', 'Secret with the login for the repository')
    .option('--entrypoint <path>', 'the file of the repository to run')
    .option('--env <name=value>', 'a variable; NAME alone passes yours on; can be repeated', collect)
    .option('--env-file <file>', 'variables from a file of NAME=value lines; can be repeated', collect)
    .option('--secret <name=secret/key>', 'a variable from a Secret; can be repeated', collect)
    .option('--config-map <name=configmap/key>', 'a variable from a ConfigMap; can be repeated', collect)
    .option('--timeout <duration>', 'end it after this long, such as 90s or 5m (default: never)')
    .option('--retry-attempts <count>', 'how often it is tried at most (default: once)')
    .option('--retry-backoff <duration>', 'pause after the first failure, doubled after each (default: 1s)')
    .option('--ttl <duration>', 'remove the Run so long after its end (default: keep it)')
    .option('--priority <number>', 'higher goes first, from -1000 to 1000 (default: 0)')
    .option('--request <resource=amount>', 'what it takes of its Pod; can be repeated', collect)
    .option('--name <name>', 'name of the Run (default: run-xxxxxxxx)')
    .option('--label <name=value>', 'a label; can be repeated', collect)
    .option('--wait', 'wait for its end, and exit as it does')
    .option('--follow', 'print what it writes as it writes it, and exit as it does')
    .addOption(new Option('--handler <name>', 'a function to call').hideHelp())
    .addHelpText(
      'after',
      `
With --wait or --follow the exit code is that of the Run; 124 when it timed out, 130 when it was cancelled, 125 when it could
not be run. Ctrl-C cancels the Run.

Examples:
  $ ${name} run -- echo hi
  $ ${name} run --follow -f build.sh --env VERSION=1.2 --timeout 10m
  $ ${name} run -r python --wait -- -c 'print(6 * 7)'
  $ ${name} run --follow --secret TOKEN=login/token -- 'curl -H "Authorization: $TOKEN" https://example.com'`,
    )
    .action(async (args: string[], _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => {
        const { run } = await import('../cli/krt/run.ts');
        return run(session, args, flags);
      });
    });
}

function addReadingCommands(parent: Command): void {
  choosing(everywhere(output(parent.command('list').alias('ls'))))
    .description('show Runs')
    .action(async (_: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/list.ts')).list(session, flags));
    });
  output(parent.command('get'))
    .argument('<run...>', 'names of Runs')
    .description('show all there is to know of a Run')
    .action(async (names: string[], _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/get.ts')).get(session, names, flags));
    });
  parent
    .command('logs')
    .argument('<run>', 'name of the Run')
    .description('print what a Run wrote')
    .option('-f, --follow', 'wait for more, until the Run has ended')
    .option('--tail <lines>', 'only the last lines of what is there')
    .addOption(new Option('--status-port <port>', 'accepted for compatibility').hideHelp())
    .action(async (name: string, _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/logs.ts')).logs(session, name, flags));
    });
  choosing(everywhere(parent.command('watch')))
    .argument('[run...]', 'names of Runs (default: those that go on, and what changes)')
    .description('show Runs and what becomes of them, until Ctrl-C')
    .option('--finished-too', 'those that had ended before, too')
    .action(async (names: string[], _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/watch.ts')).watch(session, names, flags));
    });
  parent
    .command('wait')
    .argument('<run...>', 'names of Runs')
    .description('wait for Runs')
    .option('--for <what>', 'end, delete or phase=<phase>', 'end')
    .option('--timeout <duration>', 'give up after this long (default: never)')
    .addHelpText('after', '\nWaiting for the end exits as the Run did; all else exits with 0, or with 1 when it cannot come any more.')
    .action(async (names: string[], _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/wait.ts')).wait(session, names, flags));
    });
  everywhere(parent.command('top'))
    .description('show how busy each Runtime is: places, Runs on them, Runs that wait, and for how long')
    .option('-w, --watch', 'keep showing it')
    .option('-o, --output <format>', 'table or json')
    .action(async (_: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/top.ts')).top(session, flags));
    });
}

function addChangingCommands(parent: Command): void {
  choosing(parent.command('cancel'))
    .argument('[run...]', 'names of Runs')
    .description('ask for the end of Runs')
    .option('--all', 'all that have not ended')
    .action(async (names: string[], _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/change-runs.ts')).cancel(session, names, flags));
    });
  choosing(parent.command('delete').alias('rm'))
    .argument('[run...]', 'names of Runs')
    .description('remove Runs; those that go on are ended')
    .option('--all', 'all of the namespace')
    .option('--finished', 'only those that have ended')
    .action(async (names: string[], _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/change-runs.ts')).deleteRuns(session, names, flags));
    });
  parent
    .command('apply')
    .description('make Runs and Runtimes be as manifests say')
    .requiredOption('-f, --file <file>', 'a manifest, YAML or JSON; - reads standard input; can be repeated', collect)
    .action(async (_: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => {
        const { apply } = await import('../cli/krt/apply.ts');
        return apply(session, flags.file as string[]);
      });
    });
}

function addArtifactCommands(parent: Command): void {
  const artifact = parent.command('artifact').description('look at and fetch what Runs left behind');
  output(artifact.command('list').alias('ls'))
    .argument('<run>', 'name of the Run')
    .description('show the artifacts of a Run')
    .action(async (name: string, _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/artifact.ts')).listArtifacts(session, name, flags));
    });
  artifact
    .command('download')
    .argument('<run>', 'name of the Run')
    .argument('<artifact>', 'as `artifact list` shows it')
    .description('fetch an artifact; a directory comes as a .tar.gz')
    .option('-o, --output <file>', 'where to write it (default: its own name, here)')
    .addOption(new Option('--status-port <port>', 'accepted for compatibility').hideHelp())
    .action(async (run: string, name: string, _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/artifact.ts')).downloadRunArtifact(session, run, name, flags));
    });
}

function addRuntimeCommands(parent: Command): void {
  const runtime = parent.command('runtime').alias('rt').description('look after Runtimes, the Pods that take Runs');
  addConformanceCommand(runtime);
  everywhere(output(runtime.command('list').alias('ls')))
    .description('show Runtimes')
    .action(async (_: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/runtime.ts')).listRuntimes(session, flags));
    });
  output(runtime.command('get'))
    .argument('<runtime>', 'name of the Runtime')
    .description('show all there is to know of a Runtime')
    .action(async (name: string, _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/runtime.ts')).getRuntime(session, name, flags));
    });
  runtime
    .command('allow')
    .argument('<runtime>', 'name of the Runtime')
    .description('let users use a Runtime whose access is Restricted')
    .option('--for-user <name>', 'a user; can be repeated', collect)
    .option('--for-group <name>', 'a group; can be repeated', collect)
    .option('--for-service-account <namespace:name>', 'a ServiceAccount; can be repeated', collect)
    .action(async (name: string, _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      const whom = { user: flags.forUser, group: flags.forGroup, serviceAccount: flags.forServiceAccount };
      await inSession(flags, async (session) => (await import('../cli/krt/allow.ts')).allow(session, name, whom));
    });
  runtime
    .command('delete')
    .alias('rm')
    .argument('<runtime...>', 'names of Runtimes')
    .description('remove Runtimes')
    .action(async (names: string[], _: unknown, command: Command) => {
      const flags = command.optsWithGlobals();
      await inSession(flags, async (session) => (await import('../cli/krt/change-runs.ts')).deleteRuntimes(session, names));
    });
}

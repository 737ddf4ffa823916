import { Argument, type Command } from 'commander';
import { addClusterOptions, collect, FORMATS, inSession, noWait } from './cluster-commands.ts';
import { addAuthorCommands } from './plugin-author-commands.ts';

const ofTenant = (command: Command): Command => command.requiredOption('--tenant <tenant>', 'the tenant that it is for');

/** `tenantry plugin ...`. */
export function addPluginCommands(program: Command): void {
  const plugin = addClusterOptions(
    program
      .command('plugin')
      .alias('plugins')
      .description('give tenants plugins and look after them')
      .addHelpText(
        'after',
        `
Start here:
  $ tenantry plugin init hello --publisher acme --image registry.example/acme/hello
  $ tenantry plugin install acme/hello --tenant school
  $ tenantry plugin get hello --tenant school`,
      ),
  );
  addAuthorCommands(plugin);
  addInstallationCommands(plugin);
  addPolicyCommand(plugin);
  addReadingCommands(plugin);
}

function addInstallationCommands(plugin: Command): void {
  noWait(ofTenant(plugin.command('install')))
    .argument('<plugin>', 'publisher/plugin for the newest verified version, or publisher/plugin@version')
    .description('install a plugin for a tenant')
    .option('--name <name>', 'name of the installation (default: that of the plugin)')
    .addHelpText('after', '\nExample:\n  $ tenantry plugin install acme/hello@1.2.0 --tenant school')
    .action((text: string, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/plugin/install.ts')).install(session, text, flags)),
    );
  noWait(ofTenant(plugin.command('upgrade')))
    .argument('<name>', 'name of the installation')
    .description('give a tenant another version of a plugin')
    .requiredOption('--to <version>', 'which version')
    .action((name: string, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/plugin/install.ts')).upgrade(session, name, flags)),
    );
  addRollbackCommand(plugin, 'tenantry');
  noWait(ofTenant(plugin.command('uninstall')))
    .argument('<name>', 'name of the installation')
    .description('take a plugin away from a tenant; its data stays')
    .option('--delete-data', 'its secrets and data go too; there is no way back')
    .action((name: string, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/plugin/uninstall.ts')).uninstall(session, name, flags)),
    );
}

/** Under the name of the program that it is a command of. */
export function addRollbackCommand(plugin: Command, program: string): void {
  noWait(ofTenant(plugin.command('rollback')))
    .argument('<name>', 'name of the installation')
    .description('go back to the last version that was healthy')
    .option('--to <version>', 'another version that was healthy')
    .addHelpText('after', `\nExample:\n  $ ${program} plugin rollback hello --tenant school`)
    .action((name: string, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/plugin/install.ts')).rollback(session, name, flags)),
    );
}

function addPolicyCommand(plugin: Command): void {
  ofTenant(plugin.command('policy'))
    .addArgument(new Argument('[mode]', 'what to set; shows what is set when left out').choices(['pinned', 'minor-auto', 'canary', 'none']))
    .description('show or set how the plugins of a tenant follow new versions')
    .option('--plugin <name>', 'for this plugin only; can be repeated (default: all that no other policy names)', collect)
    .option('--percent <number>', 'canary: the share of requests that meets a new version first (default: 10)')
    .option('--pause <seconds>', 'canary: how long it stays at that share (default: 300)')
    .option('-o, --output <format>', FORMATS)
    .addHelpText(
      'after',
      `
  pinned       a plugin stays at its version until somebody upgrades it
  minor-auto   a new minor or patch version is taken as soon as it is verified; never another major, a pre-release, or a lower one
  canary       as minor-auto, but each new version gets a share of the requests first, and all of them only if it is healthy
  none         takes the policy away; without one a plugin is pinned

Examples:
  $ tenantry plugin policy --tenant school
  $ tenantry plugin policy minor-auto --tenant school
  $ tenantry plugin policy canary --plugin hello --percent 5 --pause 600 --tenant school`,
    )
    .action((mode: string | undefined, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) =>
        (await import('../cli/plugin/policy.ts')).policy(session, { ...flags, mode }),
      ),
    );
}

function addReadingCommands(plugin: Command): void {
  plugin
    .command('list')
    .alias('ls')
    .description('show the plugins of a tenant, or of all')
    .option('--tenant <tenant>', 'only those of this tenant')
    .option('-o, --output <format>', FORMATS)
    .action((flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/plugin/list.ts')).list(session, flags)),
    );
  ofTenant(plugin.command('get'))
    .argument('<name>', 'name of the installation')
    .description('show all there is to know of a plugin of a tenant')
    .option('-o, --output <format>', FORMATS)
    .action((name: string, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/plugin/get.ts')).get(session, name, flags)),
    );
  ofTenant(plugin.command('logs'))
    .argument('<name>', 'name of the installation')
    .description('print what the Pods of a plugin write, of all versions that run')
    .option('-f, --follow', 'go on until Ctrl-C, with the Pods that come')
    .option('--tail <lines>', 'only the last lines of each Pod')
    .option('--previous', 'of the run of each container before this one')
    .option('--of <version>', 'only Pods of this version')
    .addHelpText('after', '\nExample:\n  $ tenantry plugin logs hello --tenant school -f')
    .action((name: string, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/plugin/logs.ts')).logs(session, name, flags)),
    );
  ofTenant(plugin.command('export'))
    .argument('<name>', 'name of the installation')
    .description('write the installation, its history, its versions and its database into a folder')
    .option('--to <dir>', 'the folder, new or empty (default: <tenant>-<name>)')
    .addHelpText(
      'after',
      `
Secrets are named, not exported. The database is read with the platform's own login, so this is for administrators.
Deleting a tenant takes all this away: export first.

Example:
  $ tenantry plugin export hello --tenant school --to backup/hello && psql -f backup/hello/database.sql "$DSN"`,
    )
    .action((name: string, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => {
        const [{ exportInstallation }, { exportPlugin }] = await Promise.all([
          import('../cli/plugin/export.ts'),
          import('../areas/plugins/database/export/export-plugin.ts'),
        ]);
        return exportInstallation(session, exportPlugin, name, flags);
      }),
    );
  ofTenant(plugin.command('events'))
    .argument('<name>', 'name of the installation')
    .description('show what happened to a plugin of a tenant')
    .action((name: string, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/plugin/events.ts')).events(session, name, flags)),
    );
}

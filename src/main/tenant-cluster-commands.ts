import { Option, type Command } from 'commander';
import { CONTROL_PLANE_PROVIDERS } from '../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { addClusterOptions, collect, FORMATS, inSession, noWait } from './cluster-commands.ts';

/** `tenantry cluster ...`. */
export function addTenantClusterCommands(program: Command): void {
  const cluster = addClusterOptions(
    program
      .command('cluster')
      .alias('clusters')
      .description('give tenants whole clusters of their own and look after them')
      .addHelpText(
        'after',
        `
Start here:
  $ tenantry tenant create acme --owner alice
  $ tenantry cluster create dev --tenant acme
  $ tenantry cluster kubeconfig dev --tenant acme > dev.kubeconfig
  $ kubectl --kubeconfig dev.kubeconfig get namespaces`,
      ),
  );
  cluster
    .option('--tenant <tenant>', 'whose cluster it is: another word for -n')
    .hook('preAction', () => void (cluster.opts().tenant && cluster.setOptionValue('namespace', cluster.opts().tenant)));
  addMakingCommands(cluster);
  addReadingCommands(cluster);
  addChangingCommands(cluster);
  addBackupCommands(cluster);
}

function addMakingCommands(cluster: Command): void {
  noWait(cluster.command('create'))
    .argument('<cluster>', 'its name: small letters, digits and dashes')
    .description('make a cluster for a tenant: its own API server, store, keys and port')
    .option('--kubernetes <version>', 'its version, such as 1.35 (default: the newest that the operator supports)')
    .addOption(new Option('--control-plane <provider>', 'who serves it (default: the best there is)').choices(CONTROL_PLANE_PROVIDERS))
    .option('--replicas <n>', 'of its control plane: 1, or 3 of the provider kubernetes')
    .option('--add-on <name>', 'install this too; can be repeated', collect)
    .option('--name <host>', 'a further name or address of its endpoint; can be repeated', collect)
    .option('--pool <name=replicas>', 'a pool of workers, and what they should be: workers=3,cpu=2,memory=1Gi; can be repeated', collect)
    .option('--subnet <name>', "live in this subnet of the tenant's VPC (default: the first, if it has workers)")
    .option('-o, --output <format>', FORMATS)
    .addHelpText('after', '\nExample:\n  $ tenantry cluster create dev --tenant acme --add-on default-deny')
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/cluster/create.ts')).create(session, name, flags)),
    );
  noWait(cluster.command('delete'))
    .argument('<cluster>', 'name of the cluster')
    .description('delete a cluster and all that is in it; asks for its name again')
    .option('--confirm <name>', 'the name again, for scripts')
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/cluster/delete.ts')).remove(session, name, flags)),
    );
}

function addReadingCommands(cluster: Command): void {
  cluster
    .command('list')
    .alias('ls')
    .description('show clusters')
    .option('-A, --all-namespaces', 'of all tenants')
    .option('-l, --selector <labels>', 'only those with these labels')
    .option('-o, --output <format>', FORMATS)
    .action((flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/cluster/list.ts')).list(session, flags)),
    );
  cluster
    .command('get')
    .argument('<cluster>', 'name of the cluster')
    .description('show all there is to know of a cluster')
    .option('-o, --output <format>', FORMATS)
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/cluster/get.ts')).get(session, name, flags)),
    );
  cluster
    .command('kubeconfig')
    .argument('<cluster>', 'name of the cluster')
    .description("print the kubeconfig of the cluster's administrators")
    .option('--revoke', 'make a new one; those of before have no rights any more')
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) =>
        (await import('../cli/cluster/kubeconfig.ts')).kubeconfig(session, name, flags),
      ),
    );
}

function addChangingCommands(cluster: Command): void {
  for (const [word, asleep, description] of [
    ['sleep', true, 'end the processes of a cluster; its data stays'],
    ['wake', false, 'start a sleeping cluster again'],
  ] as const) {
    noWait(cluster.command(word))
      .argument('<cluster>', 'name of the cluster')
      .description(description)
      .action((name: string, flags: object, command: Command) =>
        inSession(command.optsWithGlobals(), async (session) =>
          (await import('../cli/cluster/sleep.ts')).setAsleep(session, name, asleep, flags),
        ),
      );
  }
  noWait(cluster.command('upgrade'))
    .argument('<cluster>', 'name of the cluster')
    .description('move a cluster to another Kubernetes version, inside the bounds')
    .requiredOption('--to <version>', 'the version, such as 1.36')
    .action((name: string, flags: { to: string }, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/cluster/upgrade.ts')).upgrade(session, name, flags)),
    );
  noWait(cluster.command('rotate'))
    .argument('<cluster>', 'name of the cluster')
    .description('make the certificates of a cluster anew, or replace the authorities that sign them')
    .option('--certificates', 'all certificates (the default)')
    .option('--authorities', 'the authorities, and the key of service accounts; those of before stay trusted for a year')
    .option('--revoke', 'authorities of before are not trusted from now on, nor anything that they signed')
    .addHelpText(
      'after',
      `
Examples:
  $ tenantry cluster rotate dev -n acme
  $ tenantry cluster rotate dev -n acme --authorities            # then hand out new kubeconfigs, then:
  $ tenantry cluster rotate dev -n acme --revoke
  $ tenantry cluster rotate dev -n acme --authorities --revoke   # a key was stolen: everything of before ends at once`,
    )
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/cluster/rotate.ts')).rotate(session, name, flags)),
    );
  noWait(cluster.command('scale'))
    .argument('<cluster>', 'name of the cluster')
    .argument('<pool=replicas...>', 'pools of workers, such as workers=3')
    .description('change how many workers a cluster has')
    .action((name: string, pools: string[], flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/cluster/scale.ts')).scale(session, name, pools, flags)),
    );
}

function addBackupCommands(cluster: Command): void {
  noWait(cluster.command('backup'))
    .argument('<cluster>', 'name of the cluster')
    .description('make a backup of a cluster while it runs')
    .option('--name <name>', 'what to call it (default: the time)')
    .option('--remove <name>', 'remove that one instead')
    .addHelpText('after', '\nThe backup is kept by the platform, and goes with the cluster.')
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/cluster/backup.ts')).backup(session, name, flags)),
    );
  cluster
    .command('restore')
    .argument('<cluster>', 'name of the cluster')
    .description('bring back the state of a backup, in place or as a new cluster')
    .requiredOption('--backup <name>', 'which one')
    .option('--to <cluster>', 'make a new cluster of it; the old one stays as it is')
    .option('--confirm <name>', 'the name again, for scripts')
    .addHelpText(
      'after',
      `
Examples:
  $ tenantry cluster restore dev --backup monday -n acme
  $ tenantry cluster restore dev --backup monday --to dev-copy -n acme`,
    )
    .action((name: string, flags: { backup: string }, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/cluster/restore.ts')).restore(session, name, flags)),
    );
}

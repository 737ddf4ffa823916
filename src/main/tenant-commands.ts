import { Command, Option } from 'commander';
import { addClusterOptions, collect, FORMATS, inSession, noWait } from './cluster-commands.ts';

/** `tenantry tenant ...`. */
export function addTenantCommands(program: Command): void {
  const tenant = addClusterOptions(
    program
      .command('tenant')
      .alias('tenants')
      .description('make tenants and look after them')
      .addHelpText(
        'after',
        `
Start here:
  $ tenantry tenant create acme --owner alice
  $ tenantry tenant kubeconfig acme > alice.kubeconfig
  $ kubectl --kubeconfig alice.kubeconfig create deployment web --image=tenantry.dev/hello`,
      ),
  );
  addMakingCommands(tenant);
  addReadingCommands(tenant);
  addReportCommand(tenant);
  addChangingCommands(tenant);
}

function addMakingCommands(tenant: Command): void {
  noWait(tenant.command('create'))
    .argument('<tenant>', 'its name: small letters, digits and single dashes')
    .description('make a tenant: its namespaces, its rights, its quota, its network rules')
    .option('--owner <owner>', 'alice, group:devs or serviceaccount:namespace/name; can be repeated', collect)
    .option('--isolation <setting>', 'Namespace, DedicatedNodes or Cluster (default: Namespace)')
    .option('--quota <resource=amount>', 'what all its namespaces may use together, such as cpu=8,memory=16Gi; can be repeated', collect)
    .option('--max-namespaces <count>', 'how many namespaces it may have')
    .option('--node <name>', 'for DedicatedNodes: a node of its own; can be repeated', collect)
    .option('--node-label <name=value>', 'for DedicatedNodes: the nodes with this label; can be repeated', collect)
    .option('--label <name=value>', 'a label on all its namespaces, such as cost-center=42; can be repeated', collect)
    .option('--registry <prefix>', 'images only from here; can be repeated', collect)
    .addOption(
      new Option('--pod-security <level>', 'what its Pods may do (default: baseline)').choices(['privileged', 'baseline', 'restricted']),
    )
    .option('--run-share <number>', 'its share of Run capacity when Runs wait (default: 1)')
    .option('--max-runs <count>', 'how many of its Runs may be under way at once')
    .addOption(
      new Option('--deletion <policy>', 'what becomes of its namespaces when it is deleted (default: Delete)').choices([
        'Delete',
        'Retain',
      ]),
    )
    .option('--grace-period <seconds>', 'how long a deleted tenant is only suspended (default: 0)')
    .option('-o, --output <format>', FORMATS)
    .addHelpText(
      'after',
      `
Examples:
  $ tenantry tenant create acme --owner alice
  $ tenantry tenant create lab --owner group:researchers --quota cpu=8,memory=16Gi,pods=100 --label cost-center=42`,
    )
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/tenant/create.ts')).create(session, name, flags)),
    );
  tenant
    .command('kubeconfig')
    .argument('<tenant>', 'name of the tenant')
    .description('print a kubeconfig for an owner, good for the tenant and for a while')
    .option('--owner <owner>', 'which owner (default: the first)')
    .option('--for <user>', 'who it is for, when the owner is a group')
    .option('--duration <time>', 'how long it is good, such as 8h (default: 24h)')
    .addHelpText('after', '\nExample:\n  $ tenantry tenant kubeconfig acme --owner alice --duration 8h > alice.kubeconfig')
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) =>
        (await import('../cli/tenant/kubeconfig.ts')).kubeconfig(session, name, flags),
      ),
    );
}

function addReadingCommands(tenant: Command): void {
  tenant
    .command('list')
    .alias('ls')
    .description('show tenants')
    .option('-l, --selector <labels>', 'only those with these labels')
    .option('-o, --output <format>', FORMATS)
    .action((flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/tenant/list.ts')).list(session, flags)),
    );
  tenant
    .command('get')
    .argument('<tenant>', 'name of the tenant')
    .description('show all there is to know of a tenant')
    .option('-o, --output <format>', FORMATS)
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/tenant/get.ts')).get(session, name, flags)),
    );
  tenant
    .command('usage')
    .argument('<tenant>', 'name of the tenant')
    .description('show what a tenant uses of its quota, in all and by namespace')
    .option('-w, --watch', 'keep showing it')
    .option('-o, --output <format>', 'table or json')
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/tenant/usage.ts')).usage(session, name, flags)),
    );
  tenant
    .command('plan')
    .argument('<tenant>', 'name of the tenant')
    .description('show what another isolation would take; changes nothing')
    .option('--isolation <setting>', 'Namespace, DedicatedNodes or Cluster (default: what the tenant asks for)')
    .option('--node <name>', 'with these nodes instead of those of the tenant; can be repeated', collect)
    .option('-o, --output <format>', 'text or json')
    .addHelpText(
      'after',
      `
Examples:
  $ tenantry tenant plan acme --isolation DedicatedNodes --node worker-3
  $ kubectl patch tenant acme --type merge -p '{"spec":{"isolation":"DedicatedNodes","nodePool":{"names":["worker-3"]}}}'`,
    )
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/tenant/plan.ts')).plan(session, name, flags)),
    );
}

function addReportCommand(tenant: Command): void {
  tenant
    .command('report')
    .argument('[tenant]', 'name of the tenant (default: all)')
    .description('show what tenants used in a period: CPU, memory, storage, Runs, tokens')
    .option('--from <time>', 'a day such as 2026-11-01 or a time, in UTC (default: the first of this month)')
    .option('--to <time>', 'until then (default: now)')
    .option('-o, --output <format>', 'table, csv or json')
    .addHelpText(
      'after',
      `
Use is recorded by the hour for two days, by the day for 13 months.

Examples:
  $ tenantry tenant report acme
  $ tenantry tenant report --from 2026-10-01 --to 2026-11-01 -o csv > october.csv`,
    )
    .action((name: string | undefined, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/tenant/report.ts')).report(session, name, flags)),
    );
}

function addChangingCommands(tenant: Command): void {
  for (const [word, suspended, description] of [
    ['suspend', true, 'scale everything of a tenant to zero and refuse more; data stays'],
    ['resume', false, 'let a suspended tenant go on as it was'],
  ] as const) {
    noWait(tenant.command(word))
      .argument('<tenant>', 'name of the tenant')
      .description(description)
      .action((name: string, flags: object, command: Command) =>
        inSession(command.optsWithGlobals(), async (session) =>
          (await import('../cli/tenant/suspend.ts')).setSuspended(session, name, suspended, flags),
        ),
      );
  }
  noWait(tenant.command('delete'))
    .argument('<tenant>', 'name of the tenant')
    .description('delete a tenant; asks for its name again')
    .option('--confirm <name>', 'the name again, for scripts')
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/tenant/delete.ts')).remove(session, name, flags)),
    );
}

/** `tenantry ns ...`: what `kubectl hns` does. */
export function addNamespaceCommands(program: Command): void {
  const ns = addClusterOptions(program.command('ns').description('look after trees of namespaces: all that `kubectl hns` does'));
  ns.command('tree')
    .argument('[namespace...]', 'roots of the trees (default: the namespace of the kubeconfig)')
    .description('draw trees of namespaces')
    .option('-A, --all-namespaces', 'all trees')
    .action((roots: string[], flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/namespaces/tree.ts')).tree(session, roots, flags)),
    );
  ns.command('describe')
    .argument('<namespace>', 'name of the namespace')
    .description('show the place of a namespace in its tree')
    .action((name: string, _: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/namespaces/describe.ts')).describe(session, name)),
    );
  ns.command('create')
    .argument('<child>', "name of the new namespace; inside a tenant the tenant's name is put in front")
    .description('make a namespace below that of -n')
    .addHelpText('after', '\nExample:\n  $ tenantry ns create dev -n acme        makes acme--dev')
    .action((child: string, _: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/namespaces/change-tree.ts')).create(session, child)),
    );
  ns.command('delete')
    .argument('<child>', 'name of the namespace')
    .description('delete a namespace that was made below that of -n')
    .option('--allow-cascading-deletion', 'with everything below it')
    .action((child: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) =>
        (await import('../cli/namespaces/change-tree.ts')).remove(session, child, flags),
      ),
    );
  ns.command('set')
    .argument('<namespace>', 'name of the namespace')
    .description('change the place of a namespace, or what may happen to it')
    .option('--parent <namespace>', 'put it below this one')
    .option('--root', 'make it the root of a tree')
    .option('--allow-cascading-deletion', 'let what is below it go with it')
    .option('--forbid-cascading-deletion', 'do not')
    .action((name: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/namespaces/change-tree.ts')).set(session, name, flags)),
    );
  addConfigCommands(ns.command('config').description('which kinds of objects are copied down the trees'));
}

function addConfigCommands(config: Command): void {
  config
    .command('describe')
    .description('show what is copied, and how much')
    .action((_: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/namespaces/config.ts')).describeConfig(session)),
    );
  config
    .command('set-resource')
    .argument('<resource>', 'plural name, such as secrets')
    .description('set how a kind of object is copied')
    .option('--group <group>', 'its API group (default: core)')
    .option('--mode <mode>', 'Propagate, AllowPropagate, Remove or Ignore')
    .option('--force', 'from Ignore to copying at once')
    .action((resource: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) =>
        (await import('../cli/namespaces/config.ts')).setResource(session, resource, flags),
      ),
    );
  config
    .command('delete-type')
    .argument('<resource>', 'plural name')
    .description('copy a kind of object no longer; copies stay')
    .option('--group <group>', 'its API group (default: core)')
    .action((resource: string, flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) =>
        (await import('../cli/namespaces/config.ts')).deleteType(session, resource, flags),
      ),
    );
}

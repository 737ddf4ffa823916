import { Argument, Command, Option } from 'commander';
import { LOG_LEVELS } from '../lib/log.ts';
import { completionScript, SHELLS } from './completion.ts';
import { addClusterOptions } from './cluster-commands.ts';
import { addKrtCommands, addRunCommand } from './krt-commands.ts';
import { addAuditCommand } from './audit-command.ts';
import { addJoinCommand } from './join-command.ts';
import { dataDirectory, kubeconfigPath } from './data-directory.ts';
import { productVersion } from './product-version.ts';
import { addPluginCommands } from './plugin-commands.ts';
import { addSecretCommands } from './secret-commands.ts';
import { addTenantClusterCommands } from './tenant-cluster-commands.ts';
import { addVpcCommands } from './vpc-commands.ts';
import { addNamespaceCommands, addTenantCommands } from './tenant-commands.ts';
import { reportFailure } from './report-failure.ts';

const NODE_MODES = ['auto', 'process', 'oci', 'none'];
const collect = (value: string, before: string[]): string[] => [...before, value];
const DATA_HELP = 'data directory (default: $TENANTRY_DATA or ~/.tenantry)';

export function tenantryProgram(): Command {
  const program = new Command('tenantry')
    .description('The multi-tenant runtime: a Kubernetes API on this machine, with as much isolation as each tenant needs.')
    .version(productVersion(), '-v, --version', 'print the version of this command')
    .showHelpAfterError('(tenantry --help shows what there is)')
    .addHelpText(
      'after',
      `
Start here:
  $ tenantry up                                        start, and say how to reach it
  $ export KUBECONFIG=$(tenantry kubeconfig --path)    in another terminal
  $ kubectl get namespaces
  $ tenantry run --follow -- echo hi                   a first Run, on a warm Pod`,
    );

  program
    .command('up')
    .description('start the API server, its controllers and a node for Pods, and keep running until Ctrl-C')
    .option('--data <dir>', DATA_HELP)
    .option('--port <number>', 'port on loopback; 0 picks a free one (default: 6443, or a free one if that is taken)')
    .option('--address <ip>', 'address to listen on; anything but loopback is reachable from outside', '127.0.0.1')
    .addOption(
      new Option('--node <driver>', 'how Pods run: as containers, as processes, the best that works, or not at all')
        .choices(NODE_MODES)
        .default('auto'),
    )
    .addOption(
      new Option('--node-network <kind>', "the Pods' network: their own if the machine can, or the machine's")
        .choices(['auto', 'shared'])
        .default('auto'),
    )
    .option('--node-name <name>', 'name of the node (default: the one it has, first that of this machine)')
    .option('--node-resource <name=amount>', 'something the node has for Pods, such as example.com/gpu=4; can be repeated', collect, [])
    .option('--keep-pods', 'let Pods go on when it is stopped; the next start finds them')
    .option('--allow-host-path <dir>', 'let Pods mount this folder of the machine and what is in it; can be repeated', collect, [])
    .option('--node-port-address <ip>', 'where node ports of Services are opened (default: 127.0.0.1)')
    .option('--gateway-port <number>', 'port of the way to plugins; 0 picks a free one (default: 8090, or a free one if that is taken)')
    .addOption(
      new Option('--cluster-network <provider>', "who makes the networks of tenants' clusters: this machine's kernel, OVN, or nobody")
        .choices(['auto', 'linux', 'ovn', 'off'])
        .default('auto'),
    )
    .option('--kubernetes-programs <dir>', "where etcd, kube-apiserver and the others are for tenants' clusters (default: on the PATH)")
    .option(
      '--worker-kernel <file>',
      "the kernel of tenants' workers, called vmlinuz-<release> (default: the newest for virtual machines in /boot)",
    )
    .option('--cluster-backup-limit <size>', "the most that one backup of a tenant's cluster may have", '4Gi')
    .option('--cluster-wire <link:first-last>', 'a link for tagged segments of tenants, and the VLAN ids they may have; needs ovn')
    .option(
      '--external-addresses <cidr>',
      'addresses that tenants are reached at from outside of their networks; can be repeated',
      collect,
      [],
    )
    .option('--otlp-endpoint <url>', 'send traces of Runs to this OpenTelemetry collector (default: $OTEL_EXPORTER_OTLP_ENDPOINT)')
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('warn'))
    .addOption(new Option('--log-format <format>', 'how to log').choices(['pretty', 'json']).default('pretty'))
    .addHelpText(
      'after',
      `
The first start makes a certificate authority, an admin kubeconfig and the objects every cluster has; later starts
find them. Everything is in the data directory: remove it, and the instance is gone.

Examples:
  $ tenantry up
  $ tenantry up --data ./demo --port 0`,
    )
    .action(async (options) => {
      const { up } = await import('./up.ts');
      await up({ ...options, data: dataDirectory(options.data) });
    });

  program
    .command('kubeconfig')
    .description('print the admin kubeconfig of an instance')
    .option('--data <dir>', DATA_HELP)
    .option('--path', 'print where it is instead')
    .addHelpText('after', '\nExample:\n  $ export KUBECONFIG=$(tenantry kubeconfig --path)')
    .action(async (options) => {
      const { printKubeconfig } = await import('../cli/kubeconfig.ts');
      printKubeconfig(kubeconfigPath(dataDirectory(options.data)), options.path === true);
    });

  program
    .command('status')
    .description('say whether an instance runs, and how it is')
    .option('--data <dir>', DATA_HELP)
    .option('--kubeconfig <file>', 'ask this cluster instead')
    .addOption(new Option('-o, --output <format>', 'how to say it').choices(['text', 'json']).default('text'))
    .action(async (options) => {
      const { status } = await import('../cli/status.ts');
      await status({ kubeconfig: options.kubeconfig ?? kubeconfigPath(dataDirectory(options.data)), output: options.output });
    });

  program
    .command('backup')
    .argument('[file]', 'where to write it (default: tenantry-<time>.backup in this directory)')
    .description('write a consistent backup of a running instance')
    .option('--data <dir>', DATA_HELP)
    .addHelpText(
      'after',
      `
The instance keeps serving. The backup holds all objects at one revision, Secrets included: keep it safe.

Example:
  $ tenantry backup monday.backup`,
    )
    .action(async (file, options) => {
      const { backup } = await import('../cli/backup.ts');
      await backup({ kubeconfig: kubeconfigPath(dataDirectory(options.data)), file });
    });

  program
    .command('restore')
    .argument('<file>', 'a backup made by `tenantry backup`')
    .description('fill an empty data directory from a backup')
    .option('--data <dir>', DATA_HELP)
    .addHelpText('after', '\nExample:\n  $ tenantry restore monday.backup --data ./restored && tenantry up --data ./restored')
    .action(async (file, options) => {
      const { restore } = await import('./restore.ts');
      await restore({ file, data: dataDirectory(options.data) });
    });

  addTenantCommands(program);
  addNamespaceCommands(program);
  addTenantClusterCommands(program);
  addVpcCommands(program);
  addPluginCommands(program);
  addSecretCommands(program);
  addAuditCommand(program);
  addJoinCommand(program);
  addControllerCommand(program);
  addAdmissionCommand(program);
  addGatewayCommand(program);
  addImageCommands(program);

  addClusterOptions(addRunCommand(program));
  addKrtCommands(addClusterOptions(program.command('runs').description('look after Runs, Runtimes and artifacts: all that `krt` does')));

  program
    .command('version')
    .description('print the versions of this command and of a running instance')
    .option('--data <dir>', DATA_HELP)
    .action(async (options) => {
      const { printVersion } = await import('../cli/version.ts');
      await printVersion(productVersion(), kubeconfigPath(dataDirectory(options.data)));
    });

  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell you type in').choices(SHELLS))
    .description('print a completion script for your shell')
    .addHelpText('after', '\nExamples:\n  $ source <(tenantry completion bash)\n  $ tenantry completion fish | source')
    .action((shell) => {
      process.stdout.write(completionScript(shell, program, 'tenantry runs __names'));
    });
  return program;
}

function addControllerCommand(program: Command): void {
  const image = (name: string) => `tenantry.dev/${name}:${productVersion()}`;
  program
    .command('controller')
    .description('run the controllers of Tenantry on your Kubernetes, and keep running until Ctrl-C')
    .option('--kubeconfig <file>', 'the cluster; `in-cluster` is the one this is a Pod of (default: as kubectl finds it, else in-cluster)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--namespace <name>', 'where the Leases are (default: that of the Pod, else kube-system)')
    .option('--area <names>', 'which parts to run, with commas between them (default: all)')
    .option('--no-leader-elect', 'do not wait for others to stop: there is only one')
    .option('--leader-elect', 'lead or stand by, so that one of many works at a time', true)
    .option('--no-install', 'leave definitions, rights and rules alone: somebody else installs them')
    .option('--bind-address <host:port>', 'where /metrics, /healthz and /readyz are; :8082 for all addresses', '127.0.0.1:8082')
    .option('--runtimed-image <image>', 'the sidecar of Runtime Pods', image('runtimed'))
    .option('--maintainer-image <image>', 'the program that cleans up artifact stores', image('runtime-maintainer'))
    .option('--registries <file>', 'how to reach the registries of plugins, where HTTPS without a credential is not it')
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('info'))
    .addOption(new Option('--log-format <format>', 'how to log').choices(['pretty', 'json']).default('json'))
    .addHelpText(
      'after',
      `
It installs the CustomResourceDefinitions, rights and rules of what it runs, then does the work that \`tenantry up\` does
in its own process. Start it as often as you like: one leads, the others stand by and take over.
To install takes an administrator; to run, the ServiceAccount tenantry-runs in kube-system has enough.

Examples:
  $ tenantry controller --kubeconfig ~/.kube/config --runtimed-image registry.example/runtimed:1
  $ tenantry controller --kubeconfig in-cluster --area runs --no-install --bind-address :8082`,
    )
    .action(async (options) => {
      const { controller } = await import('./controller.ts');
      await controller(options);
    });
}

function addAdmissionCommand(program: Command): void {
  program
    .command('admission')
    .description('answer the API server of your Kubernetes for tenants and plugins, and keep running until Ctrl-C')
    .option('--kubeconfig <file>', 'the cluster; `in-cluster` is the one this is a Pod of (default: as kubectl finds it, else in-cluster)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--namespace <name>', 'where its certificate is kept (default: that of the Pod, else tenantry-system)')
    .option('--area <names>', 'what to answer for, with commas between them (default: all)')
    .option('--no-install', 'leave definitions and rights alone: the controller installs them')
    .option('--listen <host:port>', 'where it answers; :9443 for all addresses', '127.0.0.1:9443')
    .option('--url <url>', 'where the API server finds it, when not by the Service tenantry-admission')
    .option('--bind-address <host:port>', 'where /metrics, /healthz and /readyz are; :8083 for all addresses', '127.0.0.1:8083')
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('info'))
    .addOption(new Option('--log-format <format>', 'how to log').choices(['pretty', 'json']).default('json'))
    .addHelpText(
      'after',
      `
It keeps tenants inside their trees, their Pods on their nodes and their quotas in bounds, and images that nobody verified
out of the namespaces of plugins. Run two or more of it beside \`tenantry controller\`: it goes on while controllers
restart, and while none answers, nothing of tenants is admitted.

Example:
  $ tenantry admission --kubeconfig in-cluster --listen :9443 --bind-address :8083`,
    )
    .action(async (options) => {
      const { admission } = await import('./admission.ts');
      await admission(options);
    });
}

function addGatewayCommand(program: Command): void {
  program
    .command('gateway')
    .description('lead requests to the plugins of tenants on your Kubernetes, and keep running until Ctrl-C')
    .option('--kubeconfig <file>', 'the cluster; `in-cluster` is the one this is a Pod of (default: as kubectl finds it, else in-cluster)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--no-install', 'leave its rights alone: somebody else installs them')
    .option('--listen <host:port>', 'where it answers; :8090 for all addresses', '127.0.0.1:8090')
    .option('--bind-address <host:port>', 'where /metrics, /healthz and /readyz are; :8084 for all addresses', '127.0.0.1:8084')
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('info'))
    .addOption(new Option('--log-format <format>', 'how to log').choices(['pretty', 'json']).default('json'))
    .addHelpText(
      'after',
      `
Requests to /<tenant>/<plugin>/... go to the Pods of the plugin, by the weights of its versions. Callers are plugins of
the same tenant, by their tokens, and users who may use plugininstallations/proxy there. \`tenantry up\` has its own.

Example:
  $ tenantry gateway --kubeconfig in-cluster --listen :8090 --bind-address :8084`,
    )
    .action(async (options) => {
      const { gateway } = await import('./gateway.ts');
      await gateway(options);
    });
}

function addImageCommands(program: Command): void {
  const image = program
    .command('image')
    .description('look after the images on this machine')
    .addHelpText(
      'after',
      '\nRegistries (mirrors, logins, plain HTTP) are set up in <data>/node/registries.yaml; see docs/guide/images.md.',
    );
  image
    .command('list')
    .alias('ls')
    .description('show the images that Pods can start from without a registry')
    .option('--data <dir>', DATA_HELP)
    .addOption(new Option('-o, --output <format>', 'how to show them').choices(['text', 'json']).default('text'))
    .action(async (options) => {
      const { listImages } = await import('./image.ts');
      await listImages({ data: dataDirectory(options.data), output: options.output });
    });
  image
    .command('pull')
    .argument('<image>', 'as a Pod would say it, such as busybox:1.36')
    .description('fetch an image before a Pod needs it')
    .option('--data <dir>', DATA_HELP)
    .option('--username <name>', 'log in to the registry')
    .option('--password-stdin', 'read the password from standard input')
    .addHelpText('after', '\nWhat is pulled here may be used by every Pod of the instance, a login notwithstanding.')
    .action(async (reference, options) => {
      const { pullNow } = await import('./image.ts');
      await pullNow({ ...options, data: dataDirectory(options.data), reference });
    });
  image
    .command('load')
    .argument('<file>', 'made by `docker save`, or an OCI layout as tar; may be compressed')
    .description('take images from a file')
    .option('--data <dir>', DATA_HELP)
    .option('--name <image>', 'the name it is to have, if the file gives none or another')
    .option('--tenants', "let workers of all tenants' clusters have it too")
    .addHelpText('after', '\nExample:\n  $ docker save app:1 -o app.tar && tenantry image load app.tar')
    .action(async (file, options) => {
      const { loadImage } = await import('./image.ts');
      await loadImage({ data: dataDirectory(options.data), file, name: options.name, tenants: options.tenants });
    });
  image
    .command('rm')
    .argument('<image...>', 'names as `tenantry image list` shows them')
    .description('remove images that no container uses')
    .option('--data <dir>', DATA_HELP)
    .action(async (references, options) => {
      const { removeImages } = await import('./image.ts');
      await removeImages({ data: dataDirectory(options.data), references });
    });
}

const program = tenantryProgram();
if (process.argv.length <= 2) program.outputHelp();
else program.parseAsync().catch((error: unknown) => reportFailure('tenantry', error));

import type { Command } from 'commander';
import type { CreateVpcFlags } from '../cli/vpc/create.ts';
import { addClusterOptions, collect, FORMATS, inSession, noWait } from './cluster-commands.ts';

/** `tenantry vpc ...`. */
export function addVpcCommands(program: Command): void {
  const vpc = addClusterOptions(
    program
      .command('vpc')
      .alias('vpcs')
      .description("look after the networks of tenants' clusters")
      .addHelpText(
        'after',
        `
A tenant has one VPC. Its first cluster with workers makes it, if nobody did before.

Start here:
  $ tenantry vpc create --tenant acme --subnet dev=10.5.0.0/24 --subnet prod=10.5.1.0/24
  $ tenantry cluster create dev --tenant acme --subnet dev
  $ tenantry vpc get --tenant acme`,
      ),
  );
  vpc
    .option('--tenant <tenant>', 'whose VPC it is: another word for -n')
    .hook('preAction', () => void (vpc.opts().tenant && vpc.setOptionValue('namespace', vpc.opts().tenant)));
  addReadingCommands(vpc);
  noWait(vpc.command('create'))
    .description('make the VPC of a tenant')
    .requiredOption('--subnet <name=range>', 'a subnet, such as dev=10.5.0.0/24; can be repeated', collect)
    .option('--peer <tenant>', 'be connected with the VPC of this tenant, when it wants that too; can be repeated', collect)
    .option('--no-egress', 'the world is not reached from it')
    .action((flags: CreateVpcFlags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/vpc/create.ts')).create(session, flags)),
    );
  for (const [word, wanted, description] of [
    ['peer', true, 'be connected with the VPC of another tenant, when it wants that too'],
    ['unpeer', false, 'be connected with it no longer; what is open is cut'],
  ] as const) {
    vpc
      .command(word)
      .argument('<tenant>', 'whose VPC')
      .description(description)
      .action((peer: string, _flags: object, command: Command) =>
        inSession(command.optsWithGlobals(), async (session) => (await import('../cli/vpc/peer.ts')).setPeer(session, peer, wanted)),
      );
  }
}

function addReadingCommands(vpc: Command): void {
  vpc
    .command('list')
    .alias('ls')
    .description('show VPCs')
    .option('-A, --all-namespaces', 'of all tenants')
    .option('-o, --output <format>', FORMATS)
    .action((flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/vpc/list.ts')).list(session, flags)),
    );
  vpc
    .command('get')
    .description('show all there is to know of the VPC of a tenant')
    .option('-o, --output <format>', FORMATS)
    .action((flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/vpc/get.ts')).get(session, flags)),
    );
}

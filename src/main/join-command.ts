import { Option, type Command } from 'commander';
import { LOG_LEVELS } from '../lib/log.ts';
import { dataDirectory } from './data-directory.ts';

/** `tenantry join`. */
export function addJoinCommand(program: Command): void {
  program
    .command('join')
    .description('make this machine a worker of a cluster, and keep running until Ctrl-C')
    .option('--server <url>', 'the API server, such as https://10.0.0.1:6443')
    .option('--ca <file>', "the cluster's certificate authority, in PEM")
    .option('--token <token>', 'a bootstrap token; needed once, until the machine has a certificate')
    .option('--join <file>', 'all of these in a JSON file: server, authorityPem, token, tunnel, name, address, settings')
    .option('--name <name>', 'name of the node (default: the one it has, first that of this machine)')
    .option('--address <ip>', 'the address of this machine that the cluster knows (default: its first)')
    .option('--listen <ip>', 'where logs and exec are served (default: --address; with a tunnel loopback)')
    .option('--tunnel <address:port>', 'open a tunnel to the control plane, which then needs no way to this machine')
    .option('--data <dir>', 'its data directory (default: $TENANTRY_DATA or ~/.tenantry)')
    .addOption(
      new Option('--node <driver>', 'how Pods run: as containers, as processes, or the best that works').choices([
        'auto',
        'process',
        'oci',
      ]),
    )
    .addOption(
      new Option('--node-network <kind>', "the Pods' network: their own if the machine can, or the machine's").choices(['auto', 'shared']),
    )
    .option('--service-range <cidr>', "the cluster's range of Service addresses (default: 10.0.0.0/24)")
    .option('--pod-range <cidr>', 'the addresses of Pods on this machine (default: a range that is free)')
    .option('--image-mirror <address:port>', 'a registry that is asked before all others, by plain HTTP')
    .option('--node-port-address <ip>', 'where node ports of Services are opened (default: 127.0.0.1)')
    .option('--keep-pods', 'let Pods go on when it is stopped; the next start finds them')
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('warn'))
    .addOption(new Option('--log-format <format>', 'how to log').choices(['pretty', 'json']).default('pretty'))
    .addHelpText(
      'after',
      `
It makes a key, asks the cluster for a certificate (kubectl get csr shows the request until it is approved), and renews it
before it ends. It works with clusters of Tenantry and with any Kubernetes of this version.

Example:
  $ tenantry join --server https://10.0.0.1:6443 --ca ca.crt --token abcdef.0123456789abcdef --name w1`,
    )
    .action(async (options) => {
      const { join } = await import('./join.ts');
      await join({ ...options, data: dataDirectory(options.data) });
    });
}

import type { Command } from 'commander';
import type { SecretInput } from '../cli/secrets/put.ts';
import { addClusterOptions, collect, inSession } from './cluster-commands.ts';

const ofTenant = (command: Command): Command => command.requiredOption('--tenant <tenant>', 'the tenant that it is for');
const WHICH = 'plugin and path, such as hello/api';

/** `tenantry secrets ...`: the embedded store of what plugins may know. */
export function addSecretCommands(program: Command): void {
  const secrets = addClusterOptions(
    program
      .command('secrets')
      .alias('secret')
      .description('look after the secrets of plugins')
      .addHelpText(
        'after',
        `
A plugin says in spec.secrets what it needs to know; for each tenant the value is at adapstory/plugins/<plugin>/<tenant>/<path>.
These commands fill the store that comes with the platform. Values are read from a file, a pipe or the keyboard, and never shown.

Start here:
  $ tenantry secrets put hello/api --tenant school --property key
  $ tenantry secrets list --tenant school`,
      ),
  );
  addPut(secrets);
  secrets
    .command('list')
    .alias('ls')
    .description('show which secrets there are; never what is in them')
    .option('--tenant <tenant>', 'only those of this tenant')
    .option('--plugin <name>', 'only those of this plugin')
    .option('-o, --output <format>', 'table, json or name')
    .action((flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/secrets/list.ts')).list(session, flags)),
    );
  ofTenant(secrets.command('rm'))
    .alias('remove')
    .argument('<secret>', WHICH)
    .description('take a secret away; a plugin that needs it keeps what it has, and cannot be installed or upgraded')
    .option('--property <property>', 'only this property')
    .action((text: string, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/secrets/remove.ts')).remove(session, text, flags)),
    );
  ofTenant(secrets.command('vault-role'))
    .argument('<plugin>', 'name of the plugin')
    .description('print the commands that give a plugin of a tenant its role in Vault')
    .option('--mount <path>', 'where the KV engine (version 2) is', 'secret')
    .option('--auth-mount <path>', 'where the Kubernetes login is', 'kubernetes')
    .addHelpText('after', '\nExample:\n  $ tenantry secrets vault-role hello --tenant school | sh')
    .action(async (plugin: string, { tenant, ...mounts }: { tenant: string; mount: string; authMount: string }) => {
      const { vaultRole } = await import('../areas/plugins/secrets/external/vault-role.ts');
      process.stdout.write(vaultRole(plugin, tenant, mounts));
    });
}

function addPut(secrets: Command): void {
  ofTenant(secrets.command('put'))
    .argument('<secret>', WHICH)
    .description('store a value, or change it; plugins that run get it within a minute or two')
    .option('--property <property>', 'what the value is called (default: value)')
    .option('--from-file <file>', '[property=]file to read it from; can be repeated', collect)
    .option('--replace', 'take away the properties that are not given')
    .addHelpText(
      'after',
      `
Without --from-file the value is what is piped in, or what you type, which is not shown. Other properties stay as they are.

Examples:
  $ tenantry secrets put hello/api --tenant school --property key          asks for it
  $ pass show school/api | tenantry secrets put hello/api --tenant school --property key
  $ tenantry secrets put hello/tls --tenant school --from-file tls.crt --from-file tls.key=private.pem`,
    )
    .action((text: string, flags, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) =>
        (await import('../cli/secrets/put.ts')).put(session, secretInput(), text, flags),
      ),
    );
}

function secretInput(): SecretInput {
  const { stdin } = process;
  return {
    isTerminal: stdin.isTTY === true,
    async bytes(file) {
      const { buffer } = await import('node:stream/consumers');
      const { readFile } = await import('node:fs/promises');
      return file === '-' ? buffer(stdin) : readFile(file);
    },
    typed: typedHidden,
  };
}

/** A line from the terminal that is not shown on it. */
async function typedHidden(prompt: string): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([import('node:readline'), import('node:stream')]);
  process.stderr.write(prompt);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('SIGINT', () => reject(new Error('Cannot put the secret: it was interrupted; nothing is stored')));
      lines.once('close', () => resolve(''));
    });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

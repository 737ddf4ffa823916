import type { Command } from 'commander';
import type { SignPorts } from '../cli/plugin/sign.ts';

const terminal = { out: (text: string) => void process.stdout.write(text), err: (text: string) => void process.stderr.write(text) };

/** What authors of plugins do: nothing here but `publish` talks to a cluster. */
export function addAuthorCommands(plugin: Command): void {
  plugin
    .command('init')
    .argument('[folder]', 'where to write it', '.')
    .description('write a small plugin to start from')
    .option('--name <name>', 'name of the plugin (default: that of the folder)')
    .requiredOption('--publisher <name>', 'who publishes it')
    .requiredOption('--image <repository>', 'where its image will be, without a tag')
    .addHelpText('after', '\nExample:\n  $ tenantry plugin init hello --publisher acme --image registry.example/acme/hello')
    .action(async (folder: string, flags: { name?: string; publisher: string; image: string }) => {
      const [{ init }, { basename, resolve }] = await Promise.all([import('../cli/plugin/init.ts'), import('node:path')]);
      process.exitCode = await init(terminal, folder, { ...flags, name: flags.name ?? basename(resolve(folder)) });
    });
  plugin
    .command('lint')
    .argument('[folder]', 'the folder of the plugin, or its plugin.yaml', '.')
    .description('check plugin.yaml and the files that it names')
    .option('--schema', 'print the JSON Schema of plugin.yaml instead, for editors')
    .action(async (folder: string, flags: { schema?: boolean }) => {
      process.exitCode = await (await import('../cli/plugin/lint.ts')).lint(terminal, folder, flags);
    });
  plugin
    .command('sign')
    .argument('[folder]', 'the folder of the plugin', '.')
    .description('sign the image of the plugin, in its registry')
    .requiredOption('--key <file>', 'the private key: PEM, ECDSA P-256')
    .option('--generate-key', 'make the key first, and print the Publisher that goes with it')
    .option('--plain-http', 'reach the registry without TLS')
    .addHelpText(
      'after',
      `
The login is that of \`docker login\`. \`cosign sign --key\` does as well.

Examples:
  $ tenantry plugin sign --key acme.key --generate-key > publisher.yaml
  $ tenantry plugin sign --key acme.key`,
    )
    .action(async (folder: string, flags: { key: string; generateKey?: boolean; plainHttp?: boolean }) => {
      const { sign } = await import('../cli/plugin/sign.ts');
      process.exitCode = await sign(await signPorts(flags.plainHttp === true), folder, flags);
    });
  plugin
    .command('publish')
    .argument('[folder]', 'the folder of the plugin', '.')
    .description('make the version known, and wait until it is verified; again, to have it looked at again')
    .option('--no-wait', 'do not wait')
    .action(async (folder: string, flags: { wait?: boolean }, command: Command) => {
      const { inSession } = await import('./krt-session.ts');
      await inSession(command.optsWithGlobals(), async (session) =>
        (await import('../cli/plugin/publish.ts')).publish(session, folder, flags),
      );
    });
}

/** Registries as `docker` reaches them: its login, TLS unless told otherwise. */
async function signPorts(isPlain: boolean): Promise<SignPorts> {
  const [{ readFile }, { homedir }, { join }, { realClock }, { credentialsFromDockerConfig }, { proxySettings }] = await Promise.all([
    import('node:fs/promises'),
    import('node:os'),
    import('node:path'),
    import('../lib/clock.ts'),
    import('../lib/oci/docker-config.ts'),
    import('../lib/oci/proxy-settings.ts'),
  ]);
  const config = join(process.env.DOCKER_CONFIG ?? join(homedir(), '.docker'), 'config.json');
  const login = await readFile(config, 'utf8').catch(() => undefined);
  return {
    ...terminal,
    signal: new AbortController().signal,
    credentials: login === undefined ? [] : credentialsFromDockerConfig(login, 'dockerconfigjson'),
    accessTo: (registry) => ({
      clock: realClock,
      proxy: proxySettings(process.env),
      registries: { registries: isPlain ? { [registry]: { mirrors: [], insecure: true } } : {} },
    }),
  };
}

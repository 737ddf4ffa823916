import type { Command } from 'commander';
import { addClusterOptions, FORMATS, inSession } from './cluster-commands.ts';

/** `tenantry audit`. */
export function addAuditCommand(program: Command): void {
  addClusterOptions(program.command('audit').description('show what plugins tried outside of what is their own, and were refused'))
    .option('--tenant <tenant>', 'only by plugins of this tenant')
    .option('--plugin <plugin>', 'only by this plugin')
    .option('--since <duration>', 'only what was tried within this time: 30s, 15m, 6h, 7d')
    .option('-o, --output <format>', FORMATS)
    .addHelpText('after', '\nExample:\n  $ tenantry audit --tenant school --since 1d')
    .action((flags: object, command: Command) =>
      inSession(command.optsWithGlobals(), async (session) => (await import('../cli/audit/audit.ts')).audit(session, flags)),
    );
}

import { Command } from 'commander';
import { addClusterOptions } from './cluster-commands.ts';
import { addRollbackCommand } from './plugin-commands.ts';
import { productVersion } from './product-version.ts';
import { reportFailure } from './report-failure.ts';

/** `bd plugin rollback <name> --tenant <id>`, as the document of the platform writes it: `tenantry plugin rollback` by another name. */
function bdProgram(): Command {
  const program = new Command('bd')
    .description('Another name for `tenantry plugin rollback`; everything else is in `tenantry plugin`.')
    .version(productVersion(), '-v, --version', 'print the version of this command')
    .showHelpAfterError('(bd --help shows what there is)');
  const plugin = addClusterOptions(program.command('plugin').description('plugins of tenants'));
  addRollbackCommand(plugin, 'bd');
  return program;
}

const program = bdProgram();
if (process.argv.length <= 2) program.outputHelp();
else program.parseAsync().catch((error: unknown) => reportFailure('bd', error));

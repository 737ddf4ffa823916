import { Argument, Command } from 'commander';
import { completionScript, SHELLS } from './completion.ts';
import { addClusterOptions } from './cluster-commands.ts';
import { addKrtCommands } from './krt-commands.ts';
import { productVersion } from './product-version.ts';
import { reportFailure } from './report-failure.ts';

const program = new Command('krt')
  .description('Runs: short executions on warm Pods, on the instance of this machine or on any Kubernetes.')
  .version(productVersion(), '-v, --version', 'print the version of this command')
  .showHelpAfterError('(krt --help shows what there is)')
  .addHelpText(
    'after',
    `
Start here:
  $ tenantry up                    in another terminal
  $ krt run --follow -- echo hi`,
  );
addClusterOptions(program);
addKrtCommands(program);

program
  .command('version')
  .description('print the version of this command')
  .action(() => console.log(`krt ${productVersion()}`));

program
  .command('completion')
  .addArgument(new Argument('<shell>', 'the shell you type in').choices(SHELLS))
  .description('print a completion script for your shell')
  .action((shell) => {
    process.stdout.write(completionScript(shell, program, 'krt __names'));
  });

if (process.argv.length <= 2) program.outputHelp();
else program.parseAsync().catch((error: unknown) => reportFailure('krt', error));

import { parseArgs } from 'node:util';
import { join } from './join.ts';
import { reportFailure } from './report-failure.ts';

/** What a worker's machine runs: `tenantry join` without the rest of the commands, which would have to be loaded there too. */
const { values } = parseArgs({
  options: {
    join: { type: 'string' },
    data: { type: 'string', default: '/var/lib/tenantry' },
    'log-level': { type: 'string', default: 'warn' },
    'log-format': { type: 'string', default: 'json' },
  },
});
await join({ join: values.join, data: values.data, logLevel: values['log-level'], logFormat: values['log-format'] }).catch(
  (error: unknown) => reportFailure('worker', error),
);
// Whatever is left of it would only keep the machine from starting it again.
process.exit();

import { closeSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startShimServer } from '../engine/node/shim/server/shim-server.ts';
import { realClock } from '../lib/clock.ts';
import { createLog } from '../lib/log.ts';

/** The parent of all containers of a data directory: `shim --dir <data>/node`. Started by the node agent, never by a user. */
const { values } = parseArgs({ options: { dir: { type: 'string' }, 'ready-fd': { type: 'string' } } });
if (values.dir === undefined) throw new Error('Cannot start the shim: it needs the folder of its node; give it with --dir');

const log = createLog();
// It is the parent of every container: whatever goes wrong with one of them must not end the others.
process.on('uncaughtException', (error) => log.error('unexpected failure', { error, stack: error.stack }));
const server = await startShimServer({ dir: values.dir, clock: realClock, warn: (message) => log.warn(message) });
if (server !== undefined) {
  // Whoever stops the machine's services stops the programs too; until they have ended somebody has to see how.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => server.finishWhenIdle());
  process.on('SIGHUP', () => undefined);
  const ready = Number(values['ready-fd'] ?? 0);
  if (ready > 2) {
    writeSync(ready, '\n');
    closeSync(ready);
  }
  await server.finished;
}
process.exit(0);

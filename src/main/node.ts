import { readFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { realClock } from '../lib/clock.ts';
import { createLog, LOG_LEVELS, type LogLevel } from '../lib/log.ts';
import { NODE_CLIENT, NODE_SERVER } from '../lib/pki/ensure-node-certificates.ts';
import type { AgentMessage, SupervisorMessage } from './node-supervisor.ts';
import { AHEAD, goAhead } from './processor-priority.ts';
import { productVersion } from './product-version.ts';
import { runNode, type RunningNode } from './run-node.ts';

// It lives as long as `up`, from its first moment on: without an API server there is nothing to follow, and the next agent finds the Pods
// as they are.
process.on('disconnect', () => process.exit(0));
if (process.connected === false) process.exit(0);

// It starts and asks after the Pods of all tenants: those of one must not keep it from the others'.
goAhead(AHEAD);

/** `up` may be busy with much else when an agent starts. */
const ENTER_MS = 10_000;
/** Told before there was anything to stop. */
let stopAsked: { keepPods: boolean } | undefined;

/** The node agent of `up`, which starts it with everything it has to know. */
const flags = parseArgs({
  options: {
    name: { type: 'string' },
    data: { type: 'string' },
    server: { type: 'string' },
    mode: { type: 'string', default: 'auto' },
    network: { type: 'string', default: 'auto' },
    'service-range': { type: 'string', default: '10.0.0.0/24' },
    'server-address': { type: 'string', default: '127.0.0.1' },
    listen: { type: 'string', default: '127.0.0.1' },
    resource: { type: 'string', multiple: true, default: [] },
    'allow-host-path': { type: 'string', multiple: true, default: [] },
    'node-port-address': { type: 'string' },
    'log-level': { type: 'string', default: 'warn' },
    'log-format': { type: 'string', default: 'json' },
  },
}).values;

const { name, data, server } = flags;
if (name === undefined || data === undefined || server === undefined) {
  throw new Error('Cannot start the node agent: it needs --name, --data and --server; start `tenantry up` instead');
}
const level = LOG_LEVELS.find((candidate): candidate is LogLevel => candidate === flags['log-level']) ?? 'warn';
const log = createLog({ level, format: flags['log-format'] === 'pretty' ? 'pretty' : 'json' }).with({ process: 'node' });

// What stops it from starting is the user's to mend (a setting, a missing program): one line says it. Later it would be a mistake of ours.
const cannotStart = (error: unknown): never => {
  log.error('cannot start the node', { error });
  process.exit(1);
};
process.once('uncaughtException', cannotStart);

const pem = (file: string) => readFile(join(data, 'pki', file), 'utf8');
const pairOf = async (file: string) => Promise.all([pem(`${file}.crt`), pem(`${file}.key`)]);
const ownPair = pairOf(NODE_CLIENT).then(([cert, key]) => ({ cert, key }));
const authorities = await pem('ca.crt');
const node = await runNode({
  name,
  data,
  server: new URL(server),
  authorities: () => authorities,
  client: () => ownPair,
  serving: () => pairOf(NODE_SERVER).then(([certificate, key]) => ({ certificate, key })),
  mode: flags.mode as 'auto',
  network: flags.network as 'auto',
  serviceRange: flags['service-range'],
  serverAddress: flags['server-address'],
  listen: flags.listen,
  resources: Object.fromEntries(
    flags.resource.map((text) => [text.slice(0, text.lastIndexOf('=')), text.slice(text.lastIndexOf('=') + 1)]),
  ),
  hostPaths: flags['allow-host-path'],
  nodePortAddress: flags['node-port-address'],
  handToApiServer,
  version: productVersion(),
  log,
});
process.off('uncaughtException', cannotStart);
followSupervisor(node);

/** To `up`, which has it: one process less between Pods and the API server. */
function handToApiServer(entrance: Server): Promise<void> {
  const message: AgentMessage = { type: 'entrance' };
  return new Promise((resolve, reject) => {
    const late = realClock.setTimer(ENTER_MS, () => reject(new Error('it does not say that it has it')));
    process.on('message', function answered(answer: SupervisorMessage) {
      if (answer.type === 'stop') stopAsked = answer;
      if (answer.type !== 'entered') return;
      process.off('message', answered);
      late.cancel();
      resolve();
    });
    process.send!(message, entrance, {}, (error) => error && reject(error));
  });
}

function followSupervisor(running: RunningNode): void {
  const ready: AgentMessage = { type: 'ready' };
  process.send?.(ready);
  let stopping = false;
  const stop = async (keepPods: boolean): Promise<void> => {
    if (stopping) return;
    stopping = true;
    process.exit((await running.stop({ keepPods })) ? 0 : 1);
  };
  process.on('message', (message: SupervisorMessage) => void (message.type === 'stop' && stop(message.keepPods)));
  if (stopAsked !== undefined) void stop(stopAsked.keepPods);
  process.on('SIGTERM', () => {
    if (!process.connected) void stop(true);
  });
}

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream } from 'ws';
import { badRequestError, internalServerError, StatusError } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import { PORT_FORWARD, TUNNELLED_PORT_FORWARD } from '../../../lib/channels/remote-command.ts';
import type { ProgramStreams } from '../shim/shim.ts';
import { parseCommandOptions, type CommandOptions } from './command-options.ts';
import { runSession, type CommandConnection } from './command-session.ts';
import type { ContainerTarget, PodAccess, PodTarget } from './pod-access.ts';
import { openSpdyCommand, SPDY_COMMAND_PROTOCOLS } from './spdy-command.ts';
import { servePortForward } from './spdy-port-forward.ts';
import { acceptSpdy, negotiateProtocol } from './spdy-upgrade.ts';
import { openWebSocketCommand, WEBSOCKET_COMMAND_PROTOCOLS } from './websocket-command.ts';
import { parsePorts, servePortChannels, WEBSOCKET_PORT_FORWARD_PROTOCOLS } from './websocket-port-forward.ts';
import { acceptWebSocket, chooseSubprotocol, isWebSocket } from './websocket-upgrade.ts';

/** A request that asks to leave HTTP. */
export interface UpgradeRequest {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  query: URLSearchParams;
}

export interface StreamContext {
  access: PodAccess;
  clock: Clock;
}

interface Command {
  program: ProgramStreams;
  /** What the client gets of the program's streams. */
  options: CommandOptions;
}

/** @throws StatusError as long as nothing was written: the request is still HTTP then. */
export async function serveExec({ access, clock }: StreamContext, upgrade: UpgradeRequest, target: ContainerTarget): Promise<void> {
  const options = parseCommandOptions(upgrade.query);
  const command = upgrade.query.getAll('command');
  if (command.length === 0) throw badRequestError('you must specify a command');
  const start = async (): Promise<Command> => ({
    program: await access.exec(target, { command, terminal: options.terminal, stdin: options.stdin }),
    options,
  });
  await serveCommand(clock, upgrade, options, start, true);
}

/** @throws StatusError */
export async function serveAttach({ access, clock }: StreamContext, upgrade: UpgradeRequest, target: ContainerTarget): Promise<void> {
  const options = parseCommandOptions(upgrade.query);
  const start = async (): Promise<Command> => {
    const { streams, terminal, stdin } = await access.attach(target);
    return { program: stdin ? streams : { ...streams, stdin: undefined }, options: { ...options, stderr: options.stderr && !terminal } };
  };
  await serveCommand(clock, upgrade, options, start, false);
}

async function serveCommand(
  clock: Clock,
  upgrade: UpgradeRequest,
  options: CommandOptions,
  start: () => Promise<Command>,
  reportsExitCode: boolean,
): Promise<void> {
  // What the client can be told in HTTP is told before the protocol changes; what only the program knows, after.
  const protocol = commandProtocol(upgrade.request);
  let command: Command | undefined;
  let failed: unknown;
  try {
    command = await start();
  } catch (error) {
    if (error instanceof StatusError && error.code < 500) throw error;
    failed = error;
  }
  let connection: CommandConnection;
  try {
    connection = await connect(upgrade, protocol, options, clock);
  } catch (error) {
    command?.program.close();
    throw error;
  }
  if (command === undefined) {
    const error = failed instanceof StatusError ? failed : executionError(failed);
    connection.finish(error.status);
    await connection.closed;
    return;
  }
  await runSession(command.program, connection, { clock, reportsExitCode });
}

/** In the kubelet's words. */
function executionError(error: unknown): StatusError {
  return internalServerError(`error executing command in container: ${error instanceof Error ? error.message : String(error)}`);
}

function commandProtocol(request: IncomingMessage): string {
  if (isWebSocket(request)) return chooseSubprotocol(request, WEBSOCKET_COMMAND_PROTOCOLS);
  return negotiateProtocol(spdyRequest(request), SPDY_COMMAND_PROTOCOLS);
}

async function connect(
  { request, socket, head }: UpgradeRequest,
  protocol: string,
  options: CommandOptions,
  clock: Clock,
): Promise<CommandConnection> {
  if (isWebSocket(request)) return openWebSocketCommand(await acceptWebSocket(request, socket, head, protocol), protocol, options);
  acceptSpdy(socket, protocol);
  return openSpdyCommand(socket, head, protocol, options, clock);
}

/** @throws StatusError */
export async function servePortForwarding(
  { access, clock }: StreamContext,
  { request, socket, head, query }: UpgradeRequest,
  target: PodTarget,
): Promise<void> {
  if (!isWebSocket(request)) {
    acceptSpdy(socket, negotiateProtocol(spdyRequest(request), [PORT_FORWARD]));
    await servePortForward(socket, head, access, target, clock);
    return;
  }
  const protocol = chooseSubprotocol(request, WEBSOCKET_PORT_FORWARD_PROTOCOLS);
  if (protocol === TUNNELLED_PORT_FORWARD) {
    const webSocket = await acceptWebSocket(request, socket, head, protocol);
    await servePortForward(createWebSocketStream(webSocket), Buffer.alloc(0), access, target, clock);
    return;
  }
  const ports = parsePorts(query);
  await servePortChannels(await acceptWebSocket(request, socket, head, protocol), protocol, ports, access, target);
}

function spdyRequest(request: IncomingMessage): IncomingMessage {
  const { upgrade = '' } = request.headers;
  if (!upgrade.toLowerCase().includes('spdy/3.1')) {
    throw badRequestError(`unable to upgrade: "${upgrade}" is not spoken here, only SPDY/3.1 and websocket`);
  }
  return request;
}

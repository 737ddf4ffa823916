import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { longLivedController, linkSignals } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import { badRequestError, failure, forbiddenError, isStatusError } from '../../../kube/status.ts';
import type { Admission } from '../admission/chain.ts';
import { goHttpError } from '../admission/webhook/go-http-error.ts';
import { protocolsWithoutToken } from '../auth/authentication/web-socket-token.ts';
import type { Authorizer } from '../auth/user.ts';
import { attributesOf } from '../chain/chain.ts';
import type { RequestHandler } from '../chain/dispatch.ts';
import type { ApiRequest, ApiResponse } from '../chain/request.ts';
import type { ObjectReader } from '../registry/objects.ts';
import { admitConnection } from './connect-admission.ts';
import { commandParameters, commandQuery, portForwardQuery } from './connect-options.ts';
import { ANYWHERE, type Outbound } from '../outbound/outbound.ts';
import { NodeConnections, type DialNode, type NodeIdentity } from './node-connections.ts';
import type { NodeEndpoint } from './node-endpoint.ts';
import { chooseContainer } from './pod-container.ts';
import { findPod, nodeOf, podPath } from './pod-location.ts';
import { answerLog } from './pod-log.ts';
import { isProxied, ProxiedTargets } from './proxied-targets.ts';
import { relayUpgrade } from '../http/relay.ts';

export interface NodeProxyOptions {
  reader: ObjectReader;
  admission: Admission;
  authorizer: Authorizer;
  identity: () => NodeIdentity;
  dial?: DialNode;
  clock: Clock;
  random?: () => number;
  /** How Pods and Services are reached; by their addresses unless told otherwise. */
  outbound?: Outbound;
}

interface Destination {
  node: NodeEndpoint;
  path: string;
}

const COMMANDS: Record<string, 'PodExecOptions' | 'PodAttachOptions'> = { exec: 'PodExecOptions', attach: 'PodAttachOptions' };

/** What clients ask of Pods and nodes rather than of the API: logs, exec, attach, port-forward, and plain HTTP to what runs there. */
export class NodeProxy {
  readonly #options: NodeProxyOptions;
  readonly #connections: NodeConnections;
  readonly #targets: ProxiedTargets;
  readonly #closing = longLivedController();

  constructor(options: NodeProxyOptions) {
    this.#options = options;
    this.#connections = new NodeConnections(options.identity, options.dial);
    this.#targets = new ProxiedTargets({
      outbound: ANYWHERE,
      ...options,
      connections: this.#connections,
      random: options.random ?? Math.random,
    });
  }

  /** The subresources that are answered here, by `group/resource/subresource`. */
  handlers(): Map<string, RequestHandler> {
    const mustUpgrade: RequestHandler = async (request) => {
      await this.#destination(request);
      throw badRequestError('Upgrade request required');
    };
    const proxied: RequestHandler = (request) => this.#targets.answer(request);
    return new Map<string, RequestHandler>([
      ['/pods/log', (request) => this.#log(request)],
      ['/pods/exec', mustUpgrade],
      ['/pods/attach', mustUpgrade],
      ['/pods/portforward', mustUpgrade],
      ['/pods/proxy', proxied],
      ['/services/proxy', proxied],
      ['/nodes/proxy', proxied],
    ]);
  }

  /**
   * Takes a connection that leaves HTTP to the node, or to what runs there. Resolves to the code of the answer once that is on its way.
   * @throws StatusError as long as nothing was written.
   */
  async upgrade(request: ApiRequest, raw: IncomingMessage, socket: Duplex, head: Buffer): Promise<number> {
    const { info } = request;
    if (isProxied(info)) return this.#targets.upgrade(request, raw, socket, head);
    if (info.group !== '' || info.resource !== 'pods' || (COMMANDS[info.subresource] === undefined && info.subresource !== 'portforward')) {
      throw badRequestError('this path does not speak another protocol than HTTP');
    }
    if (info.verb !== 'get' && info.verb !== 'create') {
      throw failure('MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
    }
    const { node, path } = await this.#destination(request);
    const outgoing = await this.#connections.open(node, { method: raw.method ?? 'GET', path, headers: upgradeHeaders(raw) });
    try {
      return await relayUpgrade(outgoing, socket, head);
    } catch (error) {
      if (isStatusError(error)) throw error;
      throw failure('', `error dialing backend: ${goHttpError(error as NodeJS.ErrnoException, node.host)}`);
    }
  }

  /** Ends what is still streaming. */
  close(): void {
    this.#closing.abort(failure('ServiceUnavailable', 'the server is shutting down, please try again later', {}));
    this.#targets.close();
    this.#connections.close();
  }

  async #log(request: ApiRequest): Promise<ApiResponse> {
    const { signal, dispose } = linkSignals(request.signal, this.#closing.signal);
    const response = await answerLog(this.#options.reader, this.#connections, request, signal).catch((error: unknown) => {
      dispose();
      throw error;
    });
    if (response.body.kind === 'stream') response.body.stream.once('close', dispose);
    else dispose();
    return response;
  }

  /** Where on which node an exec, attach or port-forward goes, once admission has agreed. */
  async #destination(request: ApiRequest): Promise<Destination> {
    const { info, query } = request;
    const { reader, admission } = this.#options;
    const kind = COMMANDS[info.subresource];
    if (kind === undefined) {
      const options = await admitConnection(admission, request, portForwardQuery(query));
      this.#requireCreate(request);
      const pod = findPod(reader, info.namespace, info.name);
      const ports = options.ports === undefined ? '' : `?port=${options.ports.join(',')}`;
      return { node: nodeOf(reader, pod), path: `${podPath('portForward', pod)}${ports}` };
    }
    const options = await admitConnection(admission, request, commandQuery(kind, query));
    this.#requireCreate(request);
    const pod = findPod(reader, info.namespace, info.name);
    const container = chooseContainer(pod, options.container ?? '');
    return { node: nodeOf(reader, pod), path: `${podPath(info.subresource, pod, container)}?${commandParameters(options).toString()}` };
  }

  /** WebSockets begin with a GET, and who may only read must not get into a container that way. */
  #requireCreate({ user, info }: ApiRequest): void {
    if (info.verb === 'create') return;
    const { allowed, reason } = this.#options.authorizer.authorize({ ...attributesOf(user, info), verb: 'create' });
    if (!allowed) throw forbiddenError({ group: info.group, resource: info.resource }, info.name, reason);
  }
}

const FORWARDED = ['x-stream-protocol-version', 'user-agent', 'origin'];

/** What the two ends have to agree on; who the client is stays here. */
function upgradeHeaders({ headers, socket }: IncomingMessage): Record<string, string | string[]> {
  const forwarded: Record<string, string | string[]> = { connection: 'Upgrade', upgrade: headers.upgrade ?? '' };
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && (FORWARDED.includes(name) || name.startsWith('sec-websocket-'))) forwarded[name] = value;
  }
  if (headers['sec-websocket-protocol'] !== undefined) {
    forwarded['sec-websocket-protocol'] = protocolsWithoutToken(headers['sec-websocket-protocol']);
  }
  if (socket.remoteAddress !== undefined) forwarded['x-forwarded-for'] = socket.remoteAddress;
  return forwarded;
}

import type { Client } from '../../../client/client.ts';
import { CertificateSigningRequest, Node, Pod, Secret } from '../../../client/kinds.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import type { Clock } from '../../../lib/clock.ts';
import { randomSuffix } from '../../../lib/ids.ts';
import { errorText, type Log } from '../../../lib/log.ts';
import { parseCertificateRequest } from '../../../lib/pki/certificate-request.ts';
import type { Change, Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { SECRET_LENGTH, TOKEN_NAMESPACE, tokenId, tokenIn, tokenSecret, tokenSecretName } from './model/bootstrap-token.ts';
import { podsToEvict } from './model/drain.ts';
import { CLIENT_SIGNER, judgeRequest, SERVING_SIGNER, type Verdict } from './model/judge-request.ts';
import {
  isAnswered,
  MOST_NODES,
  MOST_REQUESTS,
  nodeSelection,
  requestSelection,
  type NodeObject,
  type RequestObject,
} from './model/kept-objects.ts';
import type { Worker } from './model/pool-plan.ts';

export interface TenantWorkersOptions {
  tenantClient: Client;
  informers: SharedInformers;
  /** The uid of the cluster. */
  cluster: string;
  /** Those that are written down. */
  workers(): readonly Worker[];
  /** Something about a node has changed. */
  wake(): void;
  clock: Clock;
  log: Log;
}

/** Pods are as large as their owners make them. */
const PODS_PER_PAGE = 20;

/**
 * The workers of a cluster as they are inside of it: their tokens, their requests for certificates, their Nodes and Pods. Whoever administers the cluster
 * can make any number of these, of any size: of each only what is used is kept, and of all no more than a fixed number.
 */
export class TenantWorkers {
  readonly #options: TenantWorkersOptions;
  readonly #nodes: Informer<NodeObject>;
  readonly #requests: readonly Informer<RequestObject>[];
  readonly #judging = new Set<string>();

  constructor(options: TenantWorkersOptions) {
    this.#options = options;
    this.#nodes = options.informers.get(Node, nodeSelection(options.wake));
    this.#nodes.onChange((change) => void (concernsWorkers(change) && options.wake()));
    this.#requests = [CLIENT_SIGNER, SERVING_SIGNER].map((signer) =>
      options.informers.get(CertificateSigningRequest, requestSelection(signer, options.wake)),
    );
    // Not with the rest of the cluster: a worker waits for it.
    for (const requests of this.#requests) requests.onChange(({ type, object }) => void (type !== 'deleted' && this.#judge(object)));
  }

  async whenSynced(): Promise<void> {
    await Promise.all([this.#nodes, ...this.#requests].map((each) => each.whenSynced()));
    // What could not be answered before.
    for (const request of this.#requests.flatMap((each) => [...each.list()])) this.#judge(request);
  }

  /** What there is too much of to look after the workers; undefined: nothing. */
  get surplus(): string | undefined {
    if (this.#nodes.isCut) return `it has more than ${MOST_NODES} Nodes, and no more are looked at; delete some`;
    if (!this.#requests.some(({ isCut }) => isCut)) return undefined;
    return `it has more than ${MOST_REQUESTS} requests for certificates of nodes that nobody has answered, and no more are looked at; delete some`;
  }

  /** `heard` is when it last told how it is. */
  node(name: string): { isReady: boolean; heard: number } | undefined {
    const node = this.#nodes.get(name);
    const heard = node?.status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime;
    return node && { isReady: isReady(node), heard: heard === undefined ? 0 : Date.parse(heard) };
  }

  /**
   * The token that a worker joins with.
   * @param isNew the worker was not given one before
   * @returns undefined when the one that it has is over
   */
  async token({ name }: Worker, isNew: boolean): Promise<string | undefined> {
    const { tenantClient, cluster, clock } = this.#options;
    const id = tokenId(cluster, name);
    const secrets = tenantClient.resource(Secret, TOKEN_NAMESPACE);
    const found = await secrets.get(tokenSecretName(id)).catch(orUndefined('NotFound'));
    const held = found && tokenIn(found, clock.now());
    if (held !== undefined || !isNew) return held;
    if (found) await this.removeToken(name);
    const secret = randomSuffix(SECRET_LENGTH);
    await secrets.create(tokenSecret(id, secret, name, clock.now()));
    return `${id}.${secret}`;
  }

  async removeToken(worker: string): Promise<void> {
    const { tenantClient, cluster } = this.#options;
    const name = tokenSecretName(tokenId(cluster, worker));
    await tenantClient.resource(Secret, TOKEN_NAMESPACE).delete(name).catch(orUndefined('NotFound'));
  }

  /** No Pod comes to it any more, and those that are there are asked to go. @returns how many have not gone yet */
  async drain(name: string): Promise<number> {
    const { tenantClient } = this.#options;
    const nodes = tenantClient.resource(Node);
    const node = this.#nodes.get(name);
    if (node === undefined) return 0;
    if (node.spec?.unschedulable !== true) await nodes.patch(name, { type: 'merge', patch: { spec: { unschedulable: true } } });
    const { left, evict } = await podsToEvict(
      tenantClient.resource(Pod).items({ fieldSelector: `spec.nodeName=${name}`, limit: PODS_PER_PAGE }),
    );
    await Promise.all(
      evict.map(async (metadata) => {
        const eviction = {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: metadata.name!, namespace: metadata.namespace! },
          deleteOptions: { preconditions: { uid: metadata.uid } },
        };
        await tenantClient
          .resource(Pod, metadata.namespace)
          .subresource<typeof eviction>('eviction')
          .create(metadata.name!, eviction)
          // Its budget does not allow it yet, or it has gone.
          .catch(orUndefined('TooManyRequests', 'NotFound', 'Conflict'));
      }),
    );
    return left;
  }

  async removeNode(name: string): Promise<void> {
    await this.removeToken(name);
    await this.#options.tenantClient.resource(Node).delete(name).catch(orUndefined('NotFound'));
  }

  #judge(request: RequestObject): void {
    const name = request.metadata.name!;
    if (this.#judging.has(name)) return;
    const verdict = this.#verdict(request.spec);
    if (verdict.verdict === 'leave') return;
    this.#judging.add(name);
    this.#answer(request, verdict)
      .catch((error: unknown) => {
        if (isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict')) return;
        this.#options.log.warn('the request of a worker for a certificate cannot be answered, will try again', { error: errorText(error) });
        this.#options.wake();
      })
      .finally(() => this.#judging.delete(name));
  }

  #verdict(spec: RequestObject['spec']): Verdict {
    const { cluster, workers } = this.#options;
    const { signerName, username = '', groups = [], usages = [] } = spec;
    try {
      const request = parseCertificateRequest(Buffer.from(spec.request, 'base64').toString('utf8'));
      const asked = { signerName, username, groups, usages, request };
      return judgeRequest(asked, workers(), (worker) => tokenId(cluster, worker.name));
    } catch {
      return { verdict: 'leave' };
    }
  }

  async #answer(request: RequestObject, verdict: Exclude<Verdict, { verdict: 'leave' }>): Promise<void> {
    const { tenantClient, clock, log, wake } = this.#options;
    const { name, uid } = request.metadata;
    const requests = tenantClient.resource(CertificateSigningRequest);
    // Only a part of it is kept here, and all of it has to be sent.
    const whole = await requests.get(name!);
    if (isAnswered(whole)) return;
    // Another of the same name: it is judged for itself.
    if (whole.metadata.uid !== uid) return wake();
    const isApproved = verdict.verdict === 'approve';
    const time = formatTime(new Date(clock.now()));
    const message = isApproved ? `it is that of worker ${verdict.worker}` : verdict.message;
    const condition = {
      type: isApproved ? 'Approved' : 'Denied',
      status: 'True',
      reason: isApproved ? 'WorkerAllocated' : 'NotAllocated',
      message,
      lastUpdateTime: time,
      lastTransitionTime: time,
    };
    if (!isApproved) log.warn('a request for the certificate of a worker is denied', { request: name, message });
    await requests.subresource<RequestObject>('approval').update(name!, { ...whole, status: { ...whole.status, conditions: [condition] } });
  }
}

function isReady({ status }: NodeObject): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True';
}

/** Heartbeats are no news, but the first of a machine that was started again. */
function concernsWorkers(change: Change<NodeObject>): boolean {
  if (change.type !== 'modified' || isReady(change.previous) !== isReady(change.object)) return true;
  const bootOf = ({ status }: NodeObject) => status?.nodeInfo?.bootID;
  return bootOf(change.previous) !== bootOf(change.object);
}

function orUndefined(...reasons: Parameters<typeof isStatusError>[1][]): (error: unknown) => undefined {
  return (error) => {
    if (!reasons.some((reason) => isStatusError(error, reason))) throw error;
    return undefined;
  };
}

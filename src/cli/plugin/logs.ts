import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PluginInstallationKind, type PluginInstallation } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { VERSION_LABEL } from '../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { Pod } from '../../client/kinds.ts';
import { podLogs } from '../../client/streams/pod-logs.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import { untilInterrupted, type Session } from '../terminal/session.ts';

export interface LogsFlags {
  tenant: string;
  follow?: boolean;
  tail?: string;
  previous?: boolean;
  /** A version. */
  of?: string;
}

const PODS = 'app.kubernetes.io/name=plugin';

/** What the Pods of a plugin write, of all versions that run. With `-f` also of those that come. */
export async function logs(session: Session, name: string, flags: LogsFlags): Promise<number> {
  const tailLines = tailOf(flags.tail);
  const where = { server: session.cluster.server, namespace: flags.tenant };
  const installation: PluginInstallation = await attempting(`read the logs of plugin "${name}"`, where, () =>
    session.cluster.client.resource(PluginInstallationKind, flags.tenant).get(name),
  );
  const { namespace, phase, reason, message } = installation.status ?? {};
  if (namespace === undefined) {
    session.err(`plugin ${name} has no Pods: it is ${phase ?? 'not looked at yet'}${reason ? `: ${reason}: ${message}` : ''}\n`);
    return 1;
  }
  const place = { server: session.cluster.server, namespace };
  const reader = new LogReader(session, namespace, { ...flags, tailLines });
  await untilInterrupted(session, (signal) =>
    attempting(`read the logs of plugin "${name}"`, place, () => (flags.follow ? reader.follow(signal) : reader.readAll(signal))),
  );
  if (reader.pods === 0) session.err(`plugin ${name} has no Pods${flags.of ? ` of version ${flags.of}` : ''} in ${namespace}\n`);
  return 0;
}

type ReaderFlags = Pick<LogsFlags, 'follow' | 'previous' | 'of'> & { tailLines?: number };

class LogReader {
  pods = 0;
  readonly #session: Session;
  readonly #namespace: string;
  readonly #flags: ReaderFlags;
  readonly #reading = new Map<string, Promise<void>>();

  constructor(session: Session, namespace: string, flags: ReaderFlags) {
    this.#session = session;
    this.#namespace = namespace;
    this.#flags = flags;
  }

  async readAll(signal: AbortSignal): Promise<void> {
    const { items } = await this.#pods();
    const isAlone = items.length === 1;
    for (const pod of items) await this.#read(pod, isAlone, signal);
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { items, metadata } = await this.#pods();
    for (const pod of items) this.#begin(pod, signal);
    const updates = this.#session.cluster.client
      .resource<KubeObject>(Pod, this.#namespace)
      .watch({ labelSelector: PODS, resourceVersion: metadata?.resourceVersion, signal });
    for await (const update of updates) if ('object' in update && update.type !== 'DELETED') this.#begin(update.object, signal);
    await Promise.all(this.#reading.values());
  }

  async #pods() {
    const list = await this.#session.cluster.client.resource<KubeObject>(Pod, this.#namespace).list({ labelSelector: PODS });
    return { ...list, items: list.items.filter((pod) => this.#isWanted(pod)) };
  }

  #isWanted({ metadata }: KubeObject): boolean {
    return this.#flags.of === undefined || metadata.labels?.[VERSION_LABEL] === this.#flags.of;
  }

  /** Once it has something to tell: a Pod that waits for its image has no log. */
  #begin(pod: KubeObject, signal: AbortSignal): void {
    const id = pod.metadata.uid!;
    if (this.#reading.has(id) || !this.#isWanted(pod) || !hasStarted(pod)) return;
    const reading = this.#read(pod, false, signal).catch((error: unknown) => {
      if (!signal.aborted) this.#session.err(`${pod.metadata.name}: ${(error as Error).message}\n`);
    });
    this.#reading.set(id, reading);
  }

  async #read(pod: KubeObject, isAlone: boolean, signal: AbortSignal): Promise<void> {
    this.pods += 1;
    const { name = '', labels = {} } = pod.metadata;
    const prefix = isAlone ? '' : `[${labels[VERSION_LABEL] ?? '?'} ${name.slice(-5)}] `;
    const { follow, previous, tailLines } = this.#flags;
    try {
      const stream = await podLogs(
        this.#session.cluster.transport,
        { namespace: this.#namespace, name },
        { follow, previous, tailLines, signal },
      );
      const lines = createInterface({ input: stream });
      lines.on('line', (line) => this.#session.out(`${prefix}${line}\n`));
      stream.on('error', () => lines.close());
      await once(lines, 'close');
    } catch (error) {
      // One that is just starting, or just gone, has none; the others have.
      if (!isStatusError(error, 'BadRequest') && !isStatusError(error, 'NotFound')) throw error;
      this.#session.err(`${prefix}${(error as Error).message}\n`);
    }
  }
}

function hasStarted({ status }: KubeObject): boolean {
  const containers = (status?.containerStatuses ?? []) as { state?: { running?: object; terminated?: object }; restartCount?: number }[];
  return containers.some(
    ({ state, restartCount = 0 }) => state?.running !== undefined || state?.terminated !== undefined || restartCount > 0,
  );
}

function tailOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '-1') return undefined;
  if (!/^\d+$/.test(text)) throw new Error(`Cannot show the last "${text}" lines: write a whole number, or leave it out for all`);
  return Number(text);
}

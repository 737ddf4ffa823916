import { RunKind } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Amounts } from '../../../api/tenantry.dev/v1alpha1/metering.ts';
import { CustomResourceDefinition, PersistentVolumeClaim, Pod } from '../../../client/kinds.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { unfinishedRuns } from '../unfinished-runs.ts';
import type { UsageMeter } from './model/usage-meter.ts';
import { claimRates, podRates, runRates } from './model/usage-rates.ts';

const NAMESPACE = 'namespace';
const [Pods, Claims, Definitions]: Kind[] = [Pod, PersistentVolumeClaim, CustomResourceDefinition];
const UNFINISHED_PODS = 'status.phase!=Succeeded,status.phase!=Failed';

interface Metered {
  kind: string;
  informer: Informer;
  rates(object: KubeObject): Amounts | undefined;
  /** Since when it uses; what was used before it was first seen counts from there. */
  start(object: KubeObject): string | undefined;
}

/** What tenants' Pods, claims and Runs use, told to the meter as they come, change and go. */
export class MeteredObjects {
  readonly #meter: UsageMeter;
  readonly #clock: Clock;
  readonly #forest: TenancyEnvironment['forest'];
  /** Until when what a tenant used was on record when we came. */
  readonly #recordedUntil: (tenant: string) => number;
  readonly #metered: Metered[] = [];
  readonly #stops: (() => void)[] = [];

  constructor(
    { informers, forest, clock }: Pick<TenancyEnvironment, 'informers' | 'forest' | 'clock'>,
    meter: UsageMeter,
    recordedUntil: (tenant: string) => number,
  ) {
    this.#meter = meter;
    this.#clock = clock;
    this.#forest = forest;
    this.#recordedUntil = recordedUntil;
    const pods = informers.get(Pods, { fieldSelector: UNFINISHED_PODS, transform: meteredPod });
    this.#follow({ kind: Pod.kind, informer: pods, rates: podRates, start: ({ status }) => status?.startTime });
    const claims = informers.get(Claims, { transform: meteredClaim });
    this.#follow({
      kind: PersistentVolumeClaim.kind,
      informer: claims,
      rates: claimRates,
      start: ({ metadata }) => metadata.creationTimestamp,
    });
    this.#followRuns(informers);
    this.#stops.push(
      forest.onChange((names) => {
        for (const metered of this.#metered)
          for (const name of names) for (const object of metered.informer.byIndex(NAMESPACE, name)) this.#see(metered, object, clock.now());
      }),
    );
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** Not every cluster has Runs, and a kind that is not there cannot be watched. */
  #followRuns(informers: TenancyEnvironment['informers']): void {
    const name = `${RunKind.plural}.${RunKind.group}`;
    let isFollowed = false;
    const definitions = informers.get(Definitions, { metadataOnly: true });
    const stop = definitions.onChange(({ object }) => {
      if (isFollowed || object.metadata.name !== name) return;
      isFollowed = true;
      const runs = unfinishedRuns(informers) as unknown as Informer;
      this.#follow({ kind: RunKind.kind, informer: runs, rates: runRates, start: ({ status }) => status?.startTime });
      this.#stops.push(runs.onChange(({ type, object: run }) => type === 'added' && this.#count(run)));
    });
    this.#stops.push(stop);
  }

  #follow(metered: Metered): void {
    this.#metered.push(metered);
    metered.informer.addIndex(NAMESPACE, ({ metadata }) => [metadata.namespace!]);
    const stop = metered.informer.onChange(({ type, object }) => {
      if (type === 'deleted') this.#meter.end(sourceId(metered.kind, object), this.#clock.now());
      else this.#see(metered, object);
    });
    this.#stops.push(stop);
  }

  /** `earliest`: a namespace that comes into a tenant brings nothing of its past. */
  #see({ kind, rates, start }: Metered, object: KubeObject, earliest = 0): void {
    const { namespace = '' } = object.metadata;
    const id = sourceId(kind, object);
    const now = this.#clock.now();
    const tenant = this.#forest.get(namespace)?.tenant;
    const current = tenant === undefined ? undefined : rates(object);
    if (current === undefined) return this.#meter.end(id, now);
    const since = Math.max(earliest, this.#recordedUntil(tenant!), Date.parse(start(object) ?? '') || now);
    this.#meter.follow(id, { tenant: tenant!, namespace, rates: current, since }, now);
  }

  /** Each once: those that were there before count where it is on record. */
  #count({ metadata: { namespace = '', creationTimestamp } }: KubeObject): void {
    const tenant = this.#forest.get(namespace)?.tenant;
    if (tenant === undefined || Date.parse(creationTimestamp ?? '') < this.#recordedUntil(tenant)) return;
    this.#meter.count(tenant, namespace, 'runs', this.#clock.now());
  }
}

/** By name, because measurements carry no uid. */
export function sourceId(kind: string, { metadata }: KubeObject): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}

/** Of the Pods of a cluster, only what is metered is kept. */
function meteredPod({ apiVersion, kind, metadata, spec, status }: KubeObject): KubeObject {
  const { nodeName, containers, initContainers, overhead, resources } = spec;
  const sizes = (list: KubeObject[] | undefined) =>
    list?.map(({ restartPolicy, resources: own }) => ({ restartPolicy, resources: own && { requests: own.requests } }));
  return {
    apiVersion,
    kind,
    metadata: metered(metadata),
    spec: { nodeName, containers: sizes(containers), initContainers: sizes(initContainers), overhead, resources },
    status: { phase: status?.phase, startTime: status?.startTime },
  };
}

function meteredClaim({ apiVersion, kind, metadata, status }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: metered(metadata), status: { phase: status?.phase, capacity: status?.capacity } };
}

function metered({ name, namespace, uid, resourceVersion, creationTimestamp }: KubeObject['metadata']): KubeObject['metadata'] {
  return { name, namespace, uid, resourceVersion, creationTimestamp };
}

import { deepEqual } from '../../../kube/json-value.ts';
import type { GroupResource, KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Log } from '../../../lib/log.ts';
import { approvalCondition } from '../crd/approval.ts';
import type { ConvertObjects } from '../crd/conversion.ts';
import { makeCustomResources } from '../crd/custom-resources.ts';
import { isConditionTrue, setCondition, type CustomResourceDefinition, type DefinitionCondition } from '../crd/definition.ts';
import { decideNames, establishedCondition, nonStructuralCondition } from '../crd/naming.ts';
import { modelName, openApiSchemas } from '../crd/published-schema.ts';
import type { PublishedKind } from '../openapi/openapi.ts';
import type { Resource } from './resource.ts';
import type { ServerCore } from '../verbs/core.ts';
import { CUSTOM_RESOURCE_CLEANUP } from './deletion-rules.ts';
import { storagePrefix } from './keys.ts';
import type { ObjectWriter } from './objects.ts';

export const DEFINITIONS: GroupResource = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

const DELETION_IN_PROGRESS: DefinitionCondition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
};

const RETRY_EMPTYING_MS = 5000;

export interface CustomDefinitionsParts {
  core: Pick<ServerCore, 'catalog' | 'store' | 'hub' | 'now'>;
  objects: ObjectWriter;
  convert?: ConvertObjects;
  /** Deletes every object of a resource as a client would, finalizers respected. */
  deleteAll(resource: GroupResource): Promise<void>;
  log: Log;
}

/**
 * Keeps the catalog equal to the CustomResourceDefinitions: names are accepted, established kinds are served, and a deleted
 * definition goes when its last object is gone.
 */
export class CustomDefinitions {
  readonly #parts: CustomDefinitionsParts;
  /** Definition name → what is served for it. */
  readonly #served = new Map<string, { generation: number; terminating: boolean; definition: CustomResourceDefinition }>();
  /** Definitions whose objects are being deleted, by uid: how to stop listening for the last one. */
  readonly #emptying = new Map<string, () => void>();
  #published: { generation: number; kinds: PublishedKind[] } | undefined;

  constructor(parts: CustomDefinitionsParts) {
    this.#parts = parts;
    parts.objects.onChange(DEFINITIONS, (change) => {
      if (change.type === 'DELETED') this.#withdraw(change.object as CustomResourceDefinition);
      else this.#reconcile(change.object as CustomResourceDefinition);
    });
  }

  /** Serves what is established already. Call once, before the first request. */
  start(): void {
    for (const definition of this.#parts.objects.list<CustomResourceDefinition>(DEFINITIONS)) this.#reconcile(definition);
  }

  /** What OpenAPI says about the custom kinds. Made when asked for. */
  published(): readonly PublishedKind[] {
    const { catalog } = this.#parts.core;
    if (this.#published?.generation !== catalog.generation) {
      this.#published = {
        generation: catalog.generation,
        kinds: [...this.#served.values()].flatMap(({ definition }) => this.#publish(definition)),
      };
    }
    return this.#published.kinds;
  }

  #publish(definition: CustomResourceDefinition): PublishedKind[] {
    const { group, names, versions } = definition.spec;
    return versions
      .filter((version) => version.served)
      .flatMap((version) => {
        const resource = this.#parts.core.catalog.find(group, version.name, names.plural);
        if (resource === undefined) return [];
        return [publishedKind(resource, modelName(group, version.name, names.kind), definition)];
      });
  }

  /** Called while a commit is handed out: whatever a definition may hold, the others and the server go on without it. */
  #reconcile(definition: CustomResourceDefinition): void {
    try {
      const leaving = definition.metadata.deletionTimestamp !== undefined;
      if (!leaving && this.#settleConditions(definition)) return;
      if (isConditionTrue(definition, 'Established')) this.#serve(definition);
      // Last: what is not served cannot be emptied.
      if (leaving) this.#terminate(definition);
    } catch (error) {
      this.#parts.log.error('cannot serve a CRD', { crd: definition.metadata.name, error });
    }
  }

  /** True when a condition had to be written: the change it makes brings us back here. */
  #settleConditions(definition: CustomResourceDefinition): boolean {
    const others = this.#parts.objects
      .list<CustomResourceDefinition>(DEFINITIONS)
      .filter((other) => other.metadata.name !== definition.metadata.name);
    const decision = decideNames(definition, others);
    const named = { ...definition, status: structuredClone(definition.status) };
    const wanted: (DefinitionCondition | undefined)[] = [];
    if (decision !== undefined) {
      for (const condition of [decision.namesAccepted, decision.established]) {
        setCondition(named, condition, this.#parts.core.now());
        wanted.push(condition);
      }
    }
    wanted.push(establishedCondition(named), nonStructuralCondition(definition), approvalCondition(definition));
    const conditions = wanted.filter((condition) => condition !== undefined && !holds(definition, condition)) as DefinitionCondition[];
    // A name that another definition has is decided about again and again, with the same result.
    const renamed = decision !== undefined && !deepEqual(decision.acceptedNames, definition.status?.acceptedNames);
    if (conditions.length === 0 && !renamed) return false;
    this.#write(definition, (draft) => {
      if (decision !== undefined) draft.status = { ...draft.status, acceptedNames: decision.acceptedNames };
      for (const condition of conditions) setCondition(draft, condition, this.#parts.core.now());
    });
    return true;
  }

  #serve(definition: CustomResourceDefinition): void {
    const { catalog, hub } = this.#parts.core;
    const name = definition.metadata.name!;
    const generation = definition.metadata.generation ?? 0;
    const terminating = isConditionTrue(definition, 'Terminating');
    const before = this.#served.get(name);
    const sameNames = deepEqual(before?.definition.status?.acceptedNames, definition.status?.acceptedNames);
    if (before?.generation === generation && before.terminating === terminating && sameNames) return;
    const resources = makeCustomResources(definition, { convert: this.#parts.convert });
    this.#served.set(name, { generation, terminating, definition });
    catalog.withdraw(groupResource(definition), new Set(resources.map((resource) => resource.version)));
    catalog.register(resources);
    // Open watches show objects as the old definition did; their clients come back and see the new one.
    if (before !== undefined && before.generation !== generation) hub.cutPrefix(storagePrefix(groupResource(definition)));
  }

  #withdraw(definition: CustomResourceDefinition): void {
    const { catalog, hub } = this.#parts.core;
    this.#stopEmptying(definition);
    if (!this.#served.delete(definition.metadata.name!)) return;
    catalog.withdraw(groupResource(definition));
    hub.cutPrefix(storagePrefix(groupResource(definition)));
    // A name this definition held may be what another one waits for.
    for (const other of this.#parts.objects.list<CustomResourceDefinition>(DEFINITIONS)) this.#reconcile(other);
  }

  #terminate(definition: CustomResourceDefinition): void {
    if (!(definition.metadata.finalizers ?? []).includes(CUSTOM_RESOURCE_CLEANUP)) return;
    const resource = groupResource(definition);
    const release = () => this.#write(definition, withoutCleanup, '');
    const finish = () => {
      if (this.#parts.core.store.count(storagePrefix(resource)) > 0) return false;
      release();
      return true;
    };
    if (!isConditionTrue(definition, 'Established') && !this.#served.has(definition.metadata.name!)) {
      // It never had objects, and nobody else will let it go.
      release();
      return;
    }
    if (finish()) return;
    if (this.#emptying.has(definition.metadata.uid!)) return;
    this.#write(definition, (draft) => setCondition(draft, DELETION_IN_PROGRESS, this.#parts.core.now()));
    const stop = this.#parts.objects.onChange(resource, (change) => {
      if (change.type === 'DELETED' && finish()) stop();
    });
    this.#emptying.set(definition.metadata.uid!, stop);
    this.#parts.deleteAll(resource).then(
      () => finish() && stop(),
      (error: unknown) => {
        this.#parts.log.error('cannot delete the objects of a CRD, will try again', { crd: definition.metadata.name, error });
        setTimeout(() => this.#emptyAgain(definition), RETRY_EMPTYING_MS).unref();
      },
    );
  }

  #emptyAgain(definition: CustomResourceDefinition): void {
    this.#stopEmptying(definition);
    const now = this.#parts.objects.get<CustomResourceDefinition>(DEFINITIONS, '', definition.metadata.name!);
    if (now?.metadata.uid === definition.metadata.uid) this.#reconcile(now!);
  }

  #stopEmptying({ metadata }: CustomResourceDefinition): void {
    this.#emptying.get(metadata.uid!)?.();
    this.#emptying.delete(metadata.uid!);
  }

  #write(
    definition: CustomResourceDefinition,
    change: (draft: CustomResourceDefinition) => void,
    subresource: 'status' | '' = 'status',
  ): void {
    const edit = (draft: KubeObject): boolean => {
      // Deleted and made again under its name: that one is decided about when it is committed.
      if (draft.metadata.uid !== definition.metadata.uid) return false;
      change(draft as CustomResourceDefinition);
      return true;
    };
    this.#parts.objects
      .update(DEFINITIONS, '', definition.metadata.name!, edit, subresource === '' ? undefined : 'status')
      .catch((error: unknown) => {
        if (!isStatusError(error, 'NotFound')) this.#parts.log.error('cannot update a CRD', { crd: definition.metadata.name, error });
      });
  }
}

function withoutCleanup(draft: CustomResourceDefinition): void {
  const kept = (draft.metadata.finalizers ?? []).filter((name) => name !== CUSTOM_RESOURCE_CLEANUP);
  if (kept.length > 0) draft.metadata.finalizers = kept;
  else delete draft.metadata.finalizers;
}

/** Schemas are put into their published form when they are asked for, one kind at a time: there may be hundreds of large ones. */
function publishedKind(resource: Resource, name: string, definition: CustomResourceDefinition): PublishedKind {
  return { resource, definition: name, schemas: (form) => openApiSchemas(definition, resource.version, form) };
}

function groupResource(definition: CustomResourceDefinition): GroupResource {
  return { group: definition.spec.group, resource: definition.spec.names.plural };
}

function holds(definition: CustomResourceDefinition, condition: DefinitionCondition): boolean {
  const found = definition.status?.conditions?.find((candidate) => candidate.type === condition.type);
  return found?.status === condition.status && found.reason === condition.reason && found.message === condition.message;
}

import { apiVersionOf } from '../../../kube/kind.ts';
import type { OwnerReference } from '../../../kube/object.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';
import type { ResourceMonitors } from '../resource-monitors/resource-monitors.ts';
import { AbsentOwners } from './absent-owners.ts';
import { Collector } from './collector.ts';
import { OwnershipGraph, type GraphNode } from './graph.ts';

/** Deletes what lost its owners, and carries out foreground deletion and orphaning. Keys are uids. */
export function garbageCollector(environment: Environment, monitors: ResourceMonitors): Running {
  const { client, clock, log, metrics, events } = environment;
  const waitingForKinds = new Set<string>();
  const wake = (uid: string): void => controller.queue.add(uid);
  const invalidNamespace = (dependent: GraphNode, reference: OwnerReference): void => reportNamespace(events, dependent, reference);
  const absentOwners = new AbsentOwners();
  const graph = new OwnershipGraph({ wake, absent: (identity) => absentOwners.add(identity), invalidNamespace });
  const collector = new Collector({
    client,
    graph,
    absentOwners,
    resourceOf: (apiVersion, kind) => monitors.resourceOf(apiVersion, kind),
    wake,
    waitForKind: (uid) => waitingForKinds.add(uid),
    invalidNamespace,
  });
  const controller: Controller = new Controller({
    name: 'garbage-collector',
    clock,
    log,
    metrics,
    concurrency: 10,
    reconcile: (uid) => collector.process(uid),
  });
  monitors.listen({
    listBegins: (resource) => graph.listBegins(apiVersionOf(resource), resource.kind),
    listEnds: (resource) => graph.listEnds(apiVersionOf(resource), resource.kind),
    observed(resource, { metadata }) {
      const { namespace = '', name, uid } = metadata;
      graph.observe({ apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name: name!, uid: uid! }, metadata);
    },
    deleted: (_resource, object) => graph.remove(object.metadata.uid!),
    resourcesChanged() {
      for (const uid of waitingForKinds) wake(uid);
      waitingForKinds.clear();
    },
  });
  return controller.start();
}

function reportNamespace(events: Environment['events'], dependent: GraphNode, reference: OwnerReference): void {
  const { apiVersion, kind, namespace, name, uid } = dependent.identity;
  const owner = `[${reference.apiVersion}/${reference.kind}, namespace: ${namespace}, name: ${reference.name}, uid: ${reference.uid}]`;
  events.record(
    { apiVersion, kind, metadata: { name, namespace, uid } },
    {
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`,
    },
  );
}

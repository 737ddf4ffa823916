import type { ResourceRecord } from './resources.ts';
import type { Server } from './server.ts';

/** Every field that some kind of Kubernetes can be selected by. No document says which kind takes which, so each is tried on each. */
const CANDIDATES = [
  'name',
  'involvedObject.apiVersion',
  'involvedObject.fieldPath',
  'involvedObject.kind',
  'involvedObject.name',
  'involvedObject.namespace',
  'involvedObject.resourceVersion',
  'involvedObject.uid',
  'regarding.apiVersion',
  'regarding.fieldPath',
  'regarding.kind',
  'regarding.name',
  'regarding.namespace',
  'regarding.resourceVersion',
  'regarding.uid',
  'reason',
  'reportingComponent',
  'reportingController',
  'source',
  'spec.clusterIP',
  'spec.driver',
  'spec.hostNetwork',
  'spec.nodeName',
  'spec.parentRef.group',
  'spec.parentRef.name',
  'spec.parentRef.namespace',
  'spec.parentRef.resource',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'spec.signerName',
  'spec.type',
  'spec.unschedulable',
  'status.nominatedNodeName',
  'status.phase',
  'status.podIP',
  'status.podIPs',
  'status.replicas',
  'status.successful',
  'type',
];

/** Fills in which field selectors the server accepts for each resource. */
export async function recordFieldSelectors(server: Server, resources: ResourceRecord[]): Promise<void> {
  for (const resource of resources.filter((record) => record.verbs.includes('list'))) {
    const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
    const accepted: string[] = [];
    for (const field of CANDIDATES) {
      const answer = await server.call('GET', `${root}/${resource.resource}?limit=1&fieldSelector=${field}%3Dx`);
      if (answer.status === 200) accepted.push(field);
    }
    if (accepted.length > 0) resource.selectableFields = accepted;
  }
}

import { formatTime } from '../../../kube/time.ts';
import { required } from '../../../kube/field-error.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { badRequestError, conflictError, invalidError } from '../../../kube/status.ts';
import { objectResponse, type ApiRequest, type ApiResponse } from '../chain/request.ts';
import type { ObjectWriter } from '../registry/objects.ts';
import { readBody } from '../verbs/body.ts';
import { isDryRun, writeOptions } from '../verbs/write-options.ts';

const PODS = { group: '', resource: 'pods' };

/** Assigns a Pod to a node: the scheduler's one write. */
export async function bind(objects: ObjectWriter, now: () => Date, request: ApiRequest): Promise<ApiResponse> {
  const options = writeOptions(request, 'CreateOptions');
  const { value: binding } = await readBody(request);
  const name: string = binding?.metadata?.name ?? request.info.name;
  const namespace = request.info.namespace;
  if (request.info.name !== '' && name !== request.info.name) throw badRequestError('name in URL does not match name in Binding object');
  const node: string = binding?.target?.name ?? '';
  if (node === '') throw invalidError({ group: '', kind: 'Binding' }, name, [required('target.name')]);
  const assign = (draft: KubeObject) => assignNode(draft, binding, node, formatTime(now()));
  if (isDryRun(options)) assign(structuredClone(objects.get(PODS, namespace, name) ?? missing(name)));
  else await objects.update(PODS, namespace, name, assign, 'binding');
  return objectResponse(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

function missing(name: string): never {
  throw conflictError({ group: '', resource: 'pods/binding' }, name, 'the pod does not exist');
}

function assignNode(pod: KubeObject, binding: Json, node: string, time: string): void {
  const name = pod.metadata.name!;
  const refuse = (detail: string) => conflictError({ group: '', resource: 'pods/binding' }, name, detail);
  const { uid, resourceVersion, annotations, labels } = binding.metadata ?? {};
  if (uid && uid !== pod.metadata.uid) {
    throw refuse(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`);
  }
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion) {
    throw refuse(
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${pod.metadata.resourceVersion}`,
    );
  }
  if (pod.metadata.deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec.nodeName) throw refuse(`pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
  if (pod.spec.schedulingGates?.length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  pod.spec.nodeName = node;
  if (pod.status) delete pod.status.nominatedNodeName;
  if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
  if (labels) pod.metadata.labels = { ...pod.metadata.labels, ...labels };
  const conditions = (pod.status?.conditions ?? []).filter((c: Json) => c.type !== 'PodScheduled');
  conditions.push({ type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: time });
  pod.status = { ...pod.status, conditions };
}

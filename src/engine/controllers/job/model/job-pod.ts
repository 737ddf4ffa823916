import type { Json, KubeObject } from '../../../../kube/object.ts';
import { podFromTemplate, type NewObject } from '../../workload/model/pod-from-template.ts';
import { failureAnnotations, hasLimitPerIndex, INDEX, TRACKING_FINALIZER, type IndexedView } from './job-view.ts';

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';
const MAX_GENERATED = 58;

/** A Pod of the Job, for one index in Indexed Jobs. */
export function jobPod(job: KubeObject, index: number | undefined, indexed: IndexedView | undefined): NewObject {
  const pod = podFromTemplate(job.spec.template, job);
  const { metadata, spec } = pod;
  metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), TRACKING_FINALIZER])];
  if (index === undefined) return pod;
  metadata.annotations = {
    ...metadata.annotations,
    [INDEX]: String(index),
    ...(hasLimitPerIndex(job) ? failureAnnotations(job, indexed?.lastFailed.get(index)) : {}),
  };
  metadata.labels = { ...metadata.labels, [INDEX]: String(index) };
  metadata.generateName = `${job.metadata.name!.slice(0, MAX_GENERATED - `-${index}-`.length)}-${index}-`;
  spec.hostname = `${job.metadata.name}-${index}`;
  spec.containers = spec.containers.map(withIndexVariable);
  if (spec.initContainers) spec.initContainers = spec.initContainers.map(withIndexVariable);
  return pod;
}

function withIndexVariable(container: Json): Json {
  const env: Json[] = container.env ?? [];
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const variable = { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${INDEX}']` } } };
  return { ...container, env: [...env, variable] };
}

import type { Json } from '../../../kube/object.ts';
import type { ObjectReader } from '../registry/objects.ts';
import type { AdmissionPlugin } from './admission.ts';
import { isOn } from './refusal.ts';

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const TOLERATION_SECONDS = 300;
const NODES = { group: '', resource: 'nodes' };
const TOPOLOGY_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** A new node takes no pods until its controller has seen it ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  handles: (request) => request.operation === 'CREATE' && request.subresource === '' && isOn(request, '', 'nodes'),
  mutate({ object }) {
    const taints: Json[] = ((object!.spec ??= {}).taints ??= []);
    if (taints.some((taint) => taint.key === NOT_READY && taint.effect === 'NoSchedule')) return;
    taints.push({ key: NOT_READY, effect: 'NoSchedule' });
  },
};

/** Pods stay on a node that went away for five minutes, unless they say otherwise. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  handles: (request) =>
    (request.operation === 'CREATE' || request.operation === 'UPDATE') && request.subresource === '' && isOn(request, '', 'pods'),
  mutate({ object }) {
    const tolerations: Json[] = object!.spec.tolerations ?? [];
    const missing = [NOT_READY, UNREACHABLE].filter((key) => !tolerations.some((toleration) => tolerates(toleration, key)));
    if (missing.length === 0) return;
    const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATION_SECONDS }));
    object!.spec.tolerations = [...tolerations, ...added];
  },
};

function tolerates(toleration: Json, key: string): boolean {
  return (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === 'NoExecute');
}

/** Pods carry the zone and region of the node they are bound to. */
export function podTopologyLabels(reader: ObjectReader): AdmissionPlugin {
  return {
    name: 'PodTopologyLabels',
    handles: (request) =>
      request.operation === 'CREATE' && isOn(request, '', 'pods') && (request.subresource === '' || request.subresource === 'binding'),
    mutate({ object, subresource }) {
      const target = subresource === 'binding' ? object!.target : { kind: 'Node', name: object!.spec?.nodeName };
      if (target?.kind !== 'Node' || !target.name) return;
      const labels = reader.get(NODES, '', target.name)?.metadata.labels;
      for (const key of TOPOLOGY_LABELS) {
        if (labels?.[key] !== undefined) (object!.metadata.labels ??= {})[key] = labels[key];
      }
    },
  };
}

import { getField } from '../../../../kube/json-value.ts';
import { isLabelValue } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Path } from '../path.ts';

const DEPRECATED: Record<string, string> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
};

export function deprecatedNodeLabel(key: string | undefined): string | undefined {
  return key === undefined ? undefined : getField(DEPRECATED, key);
}

export function nodeSelectorTermWarnings(term: Json, checkValues: boolean, at: Path): string[] {
  const found: string[] = [];
  (term.matchExpressions ?? []).forEach(({ key, values = [] }: Json, i: number) => {
    const expressionAt = at.child('matchExpressions').index(i);
    const message = deprecatedNodeLabel(key);
    if (message !== undefined) found.push(`${expressionAt.child('key').toString()}: ${key} is ${message}`);
    if (!checkValues) return;
    values.forEach((value: string, j: number) => {
      for (const error of isLabelValue(value))
        found.push(`${expressionAt.child('values').index(j).toString()}: ${value} is invalid, ${error}`);
    });
  });
  return found;
}

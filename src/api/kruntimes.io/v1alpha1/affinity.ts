import { integer, kubernetesType, list, object, oneOf, rules, type ValueOf } from '../../schema-source.ts';

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[] }[];
}

const term = object(
  {
    labelSelector: kubernetesType<LabelSelector>('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector'),
    topologyKey: oneOf(['kruntimes.io/runtime-pod']),
  },
  {},
  rules({
    rule: '(has(self.labelSelector.matchLabels) && size(self.labelSelector.matchLabels) > 0) || (has(self.labelSelector.matchExpressions) && size(self.labelSelector.matchExpressions) > 0)',
    message: 'labelSelector must not be empty',
  }),
);

const terms = object(
  {},
  {
    requiredDuringSchedulingIgnoredDuringExecution: list(term, { maxItems: 32 }),
    preferredDuringSchedulingIgnoredDuringExecution: list(
      object({ weight: integer({ minimum: 1, maximum: 100 }), runAffinityTerm: term }, {}),
      { maxItems: 32 },
    ),
  },
);

/** Which other Runs a Run wants on its Runtime Pod, and which not. */
export const runAffinity = object({}, { runAffinity: terms, runAntiAffinity: terms });

export type RunAffinity = ValueOf<typeof runAffinity>;
export type RunAffinityTerms = ValueOf<typeof terms>;
export type RunAffinityTerm = ValueOf<typeof term>;

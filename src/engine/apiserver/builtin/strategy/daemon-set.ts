import { semanticEqual } from '../../../../kube/json-value.ts';
import type { Json } from '../../../../kube/object.ts';
import type { KindBehaviour } from './standard.ts';

/** The template's own generation, which the current version of the API shows only as an annotation. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

export const DAEMON_SET: KindBehaviour = {
  tracksGeneration: true,
  onCreate: (set) => annotate(set, Math.max(generationIn(set), 1)),
  onUpdate(set, old) {
    const isChanged = !semanticEqual(set.spec.template, old.spec.template);
    annotate(set, generationIn(old) + (isChanged ? 1 : 0));
  },
};

function generationIn(set: Json): number {
  const value = Number(set.metadata.annotations?.[TEMPLATE_GENERATION]);
  return Number.isInteger(value) ? value : 0;
}

function annotate(set: Json, generation: number): void {
  const annotations: Record<string, string> = { ...set.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
  set.metadata.annotations = Object.fromEntries(Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1)));
}

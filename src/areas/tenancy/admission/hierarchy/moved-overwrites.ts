import { compareText } from '../../../../kube/go-text.ts';
import type { ReadonlyForest } from '../../forest/forest.ts';
import { printKind, type PropagatedType } from '../../propagation/model/objects-of-type.ts';
import { overwrittenByMove } from '../../propagation/model/overwrites.ts';
import { DEFAULT_PROPAGATION_SETTINGS } from '../../propagation/model/propagation-settings.ts';

/** Objects that copies from new ancestors would replace, in HNC's words: those of descendants by name, the namespace's own last. */
export function movedOverwrites(
  forest: ReadonlyForest,
  types: { live(): Iterable<PropagatedType> },
): (namespace: string, parent: string) => string[] {
  return (namespace, parent) => {
    const lines: string[] = [];
    for (const type of types.live()) {
      if (type.mode !== 'Propagate' && type.mode !== 'AllowPropagate') continue;
      const found = overwrittenByMove(namespace, parent, type, forest, DEFAULT_PROPAGATION_SETTINGS).map(({ object }) => object.metadata);
      found.sort((a, b) => last(a.namespace, b.namespace, namespace) || compareText(a.namespace!, b.namespace!));
      for (const { namespace: at, name } of found) lines.push(`Namespace "${at}": ${name} (${printKind(type.kind)})`);
    }
    return lines;
  };
}

function last(a: string | undefined, b: string | undefined, name: string): number {
  return Number(a === name) - Number(b === name);
}

import { ALL, NONE, SELECT, TREE_SELECT } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { quote } from '../../../../kube/go-text.ts';
import { flagOf, selectOf, treeSelectOf, UnreadableException } from '../../propagation/model/exceptions.ts';

type Annotations = Readonly<Record<string, string>>;

const KNOWN = [SELECT, TREE_SELECT, NONE, ALL];
const PROPAGATE_PREFIX = /^[^./]+\.hnc\.x-k8s\.io(\/|$)/;

/** How each annotation is read, and what a refusal puts before the reason. */
const READERS: { key: string; read: (text: string) => unknown; refusal: (why: string) => string }[] = [
  { key: SELECT, read: selectOf, refusal: (why) => `invalid Kubernetes labelSelector: ${why}` },
  { key: TREE_SELECT, read: treeSelectOf, refusal: (why) => `invalid HNC ${quote(TREE_SELECT)} value: ${why}` },
  { key: NONE, read: (text) => flagOf(NONE, text), refusal: (why) => why },
  { key: ALL, read: (text) => flagOf(ALL, text), refusal: (why) => why },
];

/** What is wrong with the exceptions of a source. What was wrong before and is not touched is let through. */
export function annotationProblem(before: Annotations, after: Annotations): string | undefined {
  const unknown = Object.keys(after).find((key) => PROPAGATE_PREFIX.test(key) && !KNOWN.includes(key));
  if (unknown !== undefined) return `invalid HNC exceptions annotation: ${unknown}, should be one of the following: ${KNOWN.join('; ')}`;
  for (const { key, read, refusal } of READERS) {
    if (!after[key] || after[key] === before[key]) continue;
    try {
      read(after[key]);
    } catch (error) {
      if (error instanceof UnreadableException) return refusal(error.message);
      throw error;
    }
  }
  const found = KNOWN.filter((key) => after[key]);
  const changed = KNOWN.some((key) => (after[key] ?? '') !== (before[key] ?? ''));
  if (!changed || found.length < 2) return undefined;
  return `cannot have more than one selector at the same time, but got multiple: ${found.join(', ')}`;
}

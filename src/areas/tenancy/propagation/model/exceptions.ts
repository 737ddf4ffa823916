import { ALL, NONE, SELECT, TREE_SELECT, TREE_LABEL_SUFFIX } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { quote } from '../../../../kube/go-text.ts';
import { parseLabelSelector, type LabelMatcher, type Labels } from '../../../../kube/label-selector.ts';
import { isDns1123Label } from '../../../../kube/names.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { isStatusError } from '../../../../kube/status.ts';

/** What the author of a source object says about where it goes. */
export interface Exceptions {
  /** The destination's labels must match. */
  select?: LabelMatcher;
  treeSelect?: TreeSelector;
  none: boolean;
  all: boolean;
}

export interface TreeSelector {
  matches(labels: Labels): boolean;
}

/** An annotation that cannot be read; the message is HNC's. */
export class UnreadableException extends Error {
  readonly annotation: string;

  constructor(annotation: string, message: string) {
    super(message);
    this.annotation = annotation;
  }
}

const NO_EXCEPTIONS: Exceptions = Object.freeze({ none: false, all: false });
const read = new WeakMap<KubeObject, Exceptions>();

/** @throws UnreadableException for the first annotation that makes no sense */
export function exceptionsOf(object: KubeObject): Exceptions {
  const { annotations } = object.metadata;
  if (!annotations) return NO_EXCEPTIONS;
  // A source is looked at once for every descendant.
  let exceptions = read.get(object);
  if (!exceptions) {
    exceptions = {
      select: selectOf(annotations[SELECT]),
      treeSelect: treeSelectOf(annotations[TREE_SELECT]),
      none: flagOf(NONE, annotations[NONE]),
      all: flagOf(ALL, annotations[ALL]),
    };
    if (Object.isFrozen(object)) read.set(object, exceptions);
  }
  return exceptions;
}

export function selectOf(text: string | undefined): LabelMatcher | undefined {
  if (!text) return undefined;
  const unreadable = (why: string): UnreadableException => new UnreadableException(SELECT, `while parsing ${quote(SELECT)}: ${why}`);
  let matcher: LabelMatcher;
  try {
    matcher = parseLabelSelector(text);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    throw unreadable(`couldn't parse the selector string "${text}": ${error.message}`);
  }
  // Objects can hold fewer kinds of selectors than queries, and HNC reads it as one of an object.
  for (const { operator } of matcher.requirements) {
    if (operator === 'gt' || operator === 'lt') throw unreadable(`${quote(operator)} isn't supported in label selectors`);
    if (operator === '!=') throw unreadable(`${quote(operator)} is not a valid label selector operator`);
  }
  return matcher.empty ? undefined : matcher;
}

/** `a, !b`: in the tree of `a`, not in that of `b`. Each is the existence of a tree label. */
export function treeSelectOf(text: string | undefined): TreeSelector | undefined {
  if (!text) return undefined;
  const segments = text.split(',').map((segment) => segment.trim());
  const named: string[] = [];
  const refused: string[] = [];
  for (const segment of segments) {
    const negated = segment.startsWith('!');
    const namespace = negated ? segment.slice(1) : segment;
    const wrong = isDns1123Label(namespace);
    if (wrong.length > 0)
      throw new UnreadableException(TREE_SELECT, `${quote(namespace)} is not a valid namespace name: ${wrong.join('; ')}`);
    (negated ? refused : named).push(namespace);
  }
  if (named.length > 1)
    throw new UnreadableException(TREE_SELECT, `should only have one non-negated namespace, but got multiple: [${named.join(' ')}]`);
  return {
    matches: (labels) =>
      named.every((name) => labels?.[name + TREE_LABEL_SUFFIX] !== undefined) &&
      refused.every((name) => labels?.[name + TREE_LABEL_SUFFIX] === undefined),
  };
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

export function flagOf(annotation: string, text: string | undefined): boolean {
  if (!text || FALSE.has(text)) return false;
  if (TRUE.has(text)) return true;
  throw new UnreadableException(annotation, `invalid ${annotation} value: strconv.ParseBool: parsing ${quote(text)}: invalid syntax`);
}

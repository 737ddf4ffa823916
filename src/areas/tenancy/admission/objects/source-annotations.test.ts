import { expect, test } from 'vitest';
import { annotationProblem } from './source-annotations.ts';

const P = 'propagate.hnc.x-k8s.io';
const KNOWN = `${P}/select; ${P}/treeSelect; ${P}/none; ${P}/all`;

test.each<[string, Record<string, string>, Record<string, string>, string | undefined]>([
  ['none', {}, {}, undefined],
  ['one of each kind that can be read', {}, { [`${P}/treeSelect`]: 'a, !b' }, undefined],
  [
    'one that is not known',
    {},
    { [`${P}/some`]: 'x' },
    `invalid HNC exceptions annotation: ${P}/some, should be one of the following: ${KNOWN}`,
  ],
  [
    'one of another part of the tree',
    {},
    { 'x.hnc.x-k8s.io/all': 'x' },
    `invalid HNC exceptions annotation: x.hnc.x-k8s.io/all, should be one of the following: ${KNOWN}`,
  ],
  ['one of the tree itself, which is not looked at', {}, { 'hnc.x-k8s.io/managed-by': 'x' }, undefined],
  [
    'a selector that cannot be read',
    {},
    { [`${P}/select`]: '$a' },
    `invalid Kubernetes labelSelector: while parsing "${P}/select": couldn't parse the selector string "$a": `,
  ],
  ['a selector that could not be read before', { [`${P}/select`]: '$a' }, { [`${P}/select`]: '$a' }, undefined],
  [
    'a tree that cannot be read',
    {},
    { [`${P}/treeSelect`]: '$a' },
    `invalid HNC "${P}/treeSelect" value: "$a" is not a valid namespace name: `,
  ],
  [
    'two trees',
    {},
    { [`${P}/treeSelect`]: 'a,b' },
    `invalid HNC "${P}/treeSelect" value: should only have one non-negated namespace, but got multiple: [a b]`,
  ],
  ['a flag that cannot be read', {}, { [`${P}/none`]: 'x' }, `invalid ${P}/none value: strconv.ParseBool: parsing "x": invalid syntax`],
  [
    'two',
    {},
    { [`${P}/all`]: 'true', [`${P}/select`]: 'a' },
    `cannot have more than one selector at the same time, but got multiple: ${P}/select, ${P}/all`,
  ],
  [
    'two that were there before',
    { [`${P}/all`]: 'true', [`${P}/none`]: 'true' },
    { [`${P}/all`]: 'true', [`${P}/none`]: 'true' },
    undefined,
  ],
  [
    'one more than before',
    { [`${P}/all`]: 'true' },
    { [`${P}/all`]: 'true', [`${P}/none`]: 'true' },
    `cannot have more than one selector at the same time, but got multiple: ${P}/none, ${P}/all`,
  ],
])('a source with exceptions: %s', (_, before, after, problem) => {
  const found = annotationProblem(before, after);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});

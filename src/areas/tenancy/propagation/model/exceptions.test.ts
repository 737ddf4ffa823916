import { describe, expect, test } from 'vitest';
import { exceptionsOf } from './exceptions.ts';

const withAnnotations = (annotations: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'o', namespace: 'a', annotations },
});
const TREE = { 'root.tree.hnc.x-k8s.io/depth': '1', 'team.tree.hnc.x-k8s.io/depth': '0', env: 'test' };

describe('a selector', () => {
  test.each([
    ['select', 'env=test', true],
    ['select', 'env=production', false],
    ['select', 'env in (test, production)', true],
    ['select', '!env', false],
    ['select', 'root.tree.hnc.x-k8s.io/depth=1', true],
    ['treeSelect', 'team', true],
    ['treeSelect', 'other', false],
    ['treeSelect', '!other', true],
    ['treeSelect', '!team', false],
    ['treeSelect', ' root , !other', true],
    ['treeSelect', 'root,!team', false],
  ])('%s "%s" matches: %s', (kind, text, matches) => {
    const { select, treeSelect } = exceptionsOf(withAnnotations({ [`propagate.hnc.x-k8s.io/${kind}`]: text }));
    expect((select ?? treeSelect)!.matches(TREE)).toBe(matches);
  });

  test('an empty one, is none', () => {
    const { select, treeSelect } = exceptionsOf(
      withAnnotations({ 'propagate.hnc.x-k8s.io/select': '', 'propagate.hnc.x-k8s.io/treeSelect': '' }),
    );
    expect([select, treeSelect]).toEqual([undefined, undefined]);
  });
});

describe('a flag', () => {
  test.each([
    ['true', true],
    ['T', true],
    ['1', true],
    ['false', false],
    ['0', false],
    ['', false],
  ])('%s is %s', (text, value) => {
    expect(exceptionsOf(withAnnotations({ 'propagate.hnc.x-k8s.io/none': text })).none).toBe(value);
    expect(exceptionsOf(withAnnotations({ 'propagate.hnc.x-k8s.io/all': text })).all).toBe(value);
  });
});

describe('what cannot be read', () => {
  test.each([
    ['none', 'yes', 'invalid propagate.hnc.x-k8s.io/none value: strconv.ParseBool: parsing "yes": invalid syntax'],
    ['all', 'on', 'invalid propagate.hnc.x-k8s.io/all value: strconv.ParseBool: parsing "on": invalid syntax'],
    ['treeSelect', 'a,b', 'should only have one non-negated namespace, but got multiple: [a b]'],
    ['treeSelect', '!', '"" is not a valid namespace name: a lowercase RFC 1123 label must consist of'],
    ['treeSelect', 'A', '"A" is not a valid namespace name: a lowercase RFC 1123 label must consist of'],
    ['select', 'a b', `while parsing "propagate.hnc.x-k8s.io/select": couldn't parse the selector string "a b": `],
    ['select', 'a>1', `while parsing "propagate.hnc.x-k8s.io/select": "gt" isn't supported in label selectors`],
    ['select', 'a!=b', 'while parsing "propagate.hnc.x-k8s.io/select": "!=" is not a valid label selector operator'],
  ])('%s "%s"', (kind, text, message) => {
    expect(() => exceptionsOf(withAnnotations({ [`propagate.hnc.x-k8s.io/${kind}`]: text }))).toThrow(message);
  });
});

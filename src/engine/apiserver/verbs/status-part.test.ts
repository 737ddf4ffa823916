import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { Resource } from '../registry/resource.ts';
import { isPatchOfStatus, leavesMetadata, statusPart, withMetadata, withRest } from './status-part.ts';

const custom = { strategicMerge: false } as Resource;
const object: KubeObject = {
  apiVersion: 'example.com/v1',
  kind: 'Walk',
  metadata: { name: 'a' },
  spec: { steps: [1] },
  data: 1,
  status: { at: 1 },
};

describe('isPatchOfStatus', () => {
  it.each([
    { name: 'a status', resource: custom, subresource: 'status', patch: { status: { at: 2 } }, answer: true },
    {
      name: 'a status of one revision',
      resource: custom,
      subresource: 'status',
      patch: { metadata: { resourceVersion: '1' }, status: {} },
      answer: true,
    },
    { name: 'more than the status', resource: custom, subresource: 'status', patch: { spec: {}, status: {} }, answer: false },
    { name: 'the object itself', resource: custom, subresource: '', patch: { status: {} }, answer: false },
    { name: 'a built-in kind', resource: {} as Resource, subresource: 'status', patch: { status: {} }, answer: false },
    { name: 'no object', resource: custom, subresource: 'status', patch: [] as Json, answer: false },
  ])('$name: $answer', ({ resource, subresource, patch, answer }) => {
    expect(isPatchOfStatus(resource, subresource, patch)).toBe(answer);
  });
});

describe('leavesMetadata', () => {
  it.each([
    { name: 'nothing of it', patch: { status: {} }, answer: true },
    { name: 'the revision', patch: { metadata: { resourceVersion: '7' }, status: {} }, answer: true },
    { name: 'a revision that is to be removed', patch: { metadata: { resourceVersion: null }, status: {} }, answer: false },
    { name: 'a revision that is none', patch: { metadata: { resourceVersion: 7 } }, answer: false },
    { name: 'a label', patch: { metadata: { resourceVersion: '7', labels: {} } }, answer: false },
    { name: 'no object', patch: { metadata: 'all' }, answer: false },
    { name: 'its removal', patch: { metadata: null }, answer: false },
  ])('$name: $answer', ({ patch, answer }) => {
    expect(leavesMetadata(patch)).toBe(answer);
  });
});

describe('withMetadata', () => {
  const read: KubeObject = { ...object, metadata: { name: 'a', resourceVersion: '7', labels: { a: 'b' } } };

  it.each([
    { name: 'the revision that the patch gave', metadata: { resourceVersion: '6' }, revision: '6' },
    { name: 'the revision that was read, if it gave none', metadata: {}, revision: '7' },
  ])('has $name', ({ metadata, revision }) => {
    const whole = withMetadata({ ...statusPart(read), metadata }, read);
    expect(whole.metadata).toEqual({ ...read.metadata, resourceVersion: revision });
    expect(whole.metadata).not.toBe(read.metadata);
  });
});

describe('withRest', () => {
  it('shares what was not part of it, in the same order', () => {
    const part = { ...statusPart(object), status: { at: 2 } };
    const whole = withRest(part, object);
    expect(Object.keys(whole)).toEqual(Object.keys(object));
    expect(whole).toEqual({ ...object, status: { at: 2 } });
    expect(whole.spec).toBe(object.spec);
  });

  it('adds a first status and drops one that is gone', () => {
    const { status, ...without } = object;
    expect(withRest({ ...statusPart(without), status }, without)).toEqual(object);
    expect(withRest(statusPart(without), object)).toEqual(without);
  });

  it('takes no defaults for what only the part lacks', () => {
    const { spec: _, ...without } = object;
    expect(withRest({ ...statusPart(object), spec: { steps: [] } }, without)).toEqual(without);
  });
});

import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { Resource } from '../registry/resource.ts';
import { isPatchOfStatus, statusPart, withRest } from './status-part.ts';

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

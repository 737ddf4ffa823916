import { describe, expect, it } from 'vitest';
import { fieldErrorText } from './field-error.ts';
import { NAME_RULES, validateObjectMeta, validateObjectMetaUpdate } from './metadata-validation.ts';
import type { ObjectMeta } from './object.ts';

const create = (meta: ObjectMeta, namespaced = true, rule: keyof typeof NAME_RULES = 'dns-subdomain'): string[] =>
  validateObjectMeta(meta, namespaced, NAME_RULES[rule]).map(fieldErrorText);

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '1' };

describe('validateObjectMeta', () => {
  const cases: [string, string[], string[]][] = [
    ['a good name', create({ name: 'a', namespace: 'b' }), []],
    ['no name', create({ namespace: 'b' }), ['metadata.name: Required value: name or generateName is required']],
    ['no namespace', create({ name: 'a' }), ['metadata.namespace: Required value']],
    [
      'namespace on a cluster kind',
      create({ name: 'a', namespace: 'b' }, false),
      ['metadata.namespace: Forbidden: not allowed on this type'],
    ],
    ['generateName with a trailing dash', create({ name: 'a-x', generateName: 'a-', namespace: 'b' }), []],
    ['a namespace with dots', create({ name: 'a', namespace: 'b.c' }), ['metadata.namespace: Invalid value: "b.c": must not contain dots']],
    ['a path segment name', create({ name: 'system:a', namespace: 'b' }, true, 'path-segment'), []],
    [
      'a path in a name',
      create({ name: 'a/b', namespace: 'b' }, true, 'path-segment'),
      [`metadata.name: Invalid value: "a/b": may not contain '/'`],
    ],
    [
      'a negative generation',
      create({ name: 'a', namespace: 'b', generation: -1 }),
      ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'annotations over 256 KiB',
      create({ name: 'a', namespace: 'b', annotations: { x: 'y'.repeat(262144) } }),
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    ['annotations of exactly 256 KiB', create({ name: 'a', namespace: 'b', annotations: { x: 'y'.repeat(262143) } }), []],
    ['upper case in an annotation prefix', create({ name: 'a', namespace: 'b', annotations: { 'GOOGLE.com/x': '' } }), []],
    [
      'both deletion finalizers',
      create({ name: 'a', namespace: 'b', finalizers: ['orphan', 'foregroundDeletion'] }),
      ['metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set'],
    ],
    [
      'an incomplete owner',
      create({ name: 'a', namespace: 'b', ownerReferences: [{ ...owner, apiVersion: 'customresourceVersion/', uid: '' }] }),
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "customresourceVersion/": version must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    [
      'an Event as owner',
      create({ name: 'a', namespace: 'b', ownerReferences: [{ ...owner, kind: 'Event' }] }),
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"o","uid":"1"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    [
      'an unknown operation in managedFields',
      create({ name: 'a', namespace: 'b', managedFields: [{ operation: 'RandomVerb' as 'Apply' }] }),
      ['metadata.managedFields[0].operation: Invalid value: "RandomVerb": must be `Apply` or `Update`'],
    ],
    [
      'a manager that cannot be printed',
      create({ name: 'a', namespace: 'b', managedFields: [{ operation: 'Update', manager: 'a\u0007' }] }),
      ['metadata.managedFields[0].manager: Invalid value: "a\\a": invalid character U+0007 (at position 1)'],
    ],
  ];
  it.each(cases)('%s', (_, found, expected) => expect(found).toEqual(expected));

  it('two controllers are refused with both names', () => {
    const references = [
      { ...owner, controller: true },
      { ...owner, name: 'p', controller: true },
    ];
    expect(create({ name: 'a', namespace: 'b', ownerReferences: references })[0]).toContain(
      'Only one reference can have Controller set to true. Found "true" in references for ConfigMap/o and ConfigMap/p',
    );
  });
});

describe('validateObjectMetaUpdate', () => {
  const base: ObjectMeta = {
    name: 'a',
    namespace: 'b',
    uid: 'u',
    resourceVersion: '1',
    generation: 2,
    creationTimestamp: '2020-01-01T00:00:00Z',
  };
  const update = (next: ObjectMeta, old: ObjectMeta = {}): string[] =>
    validateObjectMetaUpdate({ ...base, ...next }, { ...base, ...old }).map(fieldErrorText);

  it.each<[string, string[], string[]]>([
    ['nothing changed', update({}), []],
    [
      'no resourceVersion',
      update({ resourceVersion: '' }),
      ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
    ],
    ['a lower generation', update({ generation: 1 }), ['metadata.generation: Invalid value: 1: must not be decremented']],
    ['another name', update({ name: 'c' }), ['metadata.name: Invalid value: "c": field is immutable']],
    ['another uid', update({ uid: 'v' }), ['metadata.uid: Invalid value: "v": field is immutable']],
    ['no creation time', update({ creationTimestamp: undefined }), ['metadata.creationTimestamp: Invalid value: null: field is immutable']],
    [
      'a new finalizer while being deleted',
      update({ finalizers: ['b/y', 'a/x'], deletionTimestamp: 't' }, { finalizers: ['c/z'], deletionTimestamp: 't' }),
      [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/x", "b/y"}',
      ],
    ],
    ['a finalizer fewer while being deleted', update({ deletionTimestamp: 't' }, { finalizers: ['c/z'], deletionTimestamp: 't' }), []],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected));
});

it('names that are addresses', () => {
  expect(create({ name: 'fe80::42' }, false, 'ip-address')).toEqual([]);
  expect(create({ name: '10.0.0.1' }, false, 'ip-address')).toEqual([]);
  expect(create({ name: 'FE80::42' }, false, 'ip-address')).toEqual([
    'metadata.name: Invalid value: "FE80::42": must be in canonical form ("fe80::42")',
  ]);
  expect(create({ name: 'web' }, false, 'ip-address')).toEqual([
    'metadata.name: Invalid value: "web": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ]);
});

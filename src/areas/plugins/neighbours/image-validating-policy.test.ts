import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Publisher } from '../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { imageValidatingPolicy, nextKeyAt } from './image-validating-policy.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const pem = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey.export({ type: 'spki', format: 'pem' }).toString();
const [FIRST, SECOND] = [pem(), pem()];

const aPublisher = (...keys: object[]): Publisher => ({ metadata: { name: 'acme' }, spec: { keys } }) as never;
const keysIn = (publisher: Publisher) =>
  (imageValidatingPolicy(publisher, NOW).spec.attestors as { cosign: { key: { data: string } } }[]).map(({ cosign }) => cosign.key.data);

test('imageValidatingPolicy holds for the Pods of the publisher’s plugins, all of their images, by any of its keys', () => {
  const { spec } = imageValidatingPolicy(aPublisher({ id: 'a-b.c', publicKey: FIRST }, { id: 'second', publicKey: SECOND }), NOW);
  expect(spec.matchConstraints.namespaceSelector.matchLabels).toEqual({
    'tenantry.dev/role': 'plugin',
    'plugins.tenantry.dev/publisher': 'acme',
  });
  expect((spec.validations as { expression: string }[]).map(({ expression }) => expression)).toEqual(
    ['containers', 'initContainers', 'ephemeralContainers'].map(
      (list) => `images.${list}.map(image, verifyImageSignatures(image, [attestors.key0, attestors.key1])).all(count, count > 0)`,
    ),
  );
});

test.each<[string, object[], string[]]>([
  ['a key that was revoked does not', [{ publicKey: FIRST, revokedAt: '2027-01-01T00:00:00Z' }, { publicKey: SECOND }], [SECOND]],
  ['a key that has not begun does not', [{ publicKey: FIRST, validFrom: '2026-07-01T00:00:00Z' }, { publicKey: SECOND }], [SECOND]],
  ['a key that has ended does, for what it signed', [{ publicKey: FIRST, validUntil: '2026-01-01T00:00:00Z' }], [FIRST]],
  ['a key that is none does not', [{ publicKey: 'x' }, { publicKey: SECOND }], [SECOND]],
])('imageValidatingPolicy: %s count', (_, keys, expected) => {
  expect(keysIn(aPublisher(...keys))).toEqual(expected);
});

test('imageValidatingPolicy lets no image pass when no key is left', () => {
  const { spec } = imageValidatingPolicy(aPublisher({ publicKey: FIRST, revokedAt: '2026-01-01T00:00:00Z' }), NOW);
  expect(spec).toMatchObject({ attestors: [], validations: [{ expression: 'size(images.containers) == 0' }, {}, {}] });
});

test('nextKeyAt is when the next key begins', () => {
  const keys = ['2026-08-01T00:00:00Z', '2026-07-01T00:00:00Z', '2026-01-01T00:00:00Z', undefined].map((validFrom) => ({ validFrom }));
  expect(nextKeyAt(aPublisher(...keys), NOW)).toBe(Date.parse('2026-07-01T00:00:00Z'));
  expect(nextKeyAt(aPublisher({}), NOW)).toBeUndefined();
});

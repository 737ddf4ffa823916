import { expect, it } from 'vitest';
import { imageQuestion } from './image-path.ts';

const digest = `sha256:${'ab'.repeat(32)}`;
it.each([
  ['/v2/docker.io/library/busybox/manifests/1.36', ['docker.io', 'library/busybox', 'manifests', '1.36']],
  [`/v2/registry.example:5000/team/app/blobs/${digest}`, ['registry.example:5000', 'team/app', 'blobs', digest]],
  [`/v2/docker.io/a/manifests/${digest}`, ['docker.io', 'a', 'manifests', digest]],
  ['/v2/docker.io/a/blobs/latest', undefined],
  ['/v2/docker.io/../etc/manifests/x', undefined],
  ['/v2/docker.io/a/tags/list', undefined],
  ['/v2/docker.io/a/blobs/uploads/', undefined],
  ['/v2/', undefined],
])('imageQuestion reads %s', (path, expected) => {
  const found = imageQuestion(path);
  expect(found && [found.registry, found.repository, found.kind, found.reference]).toEqual(expected);
});

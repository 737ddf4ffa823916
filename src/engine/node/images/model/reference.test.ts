import { describe, expect, test } from 'vitest';
import { fullName } from '../../../../lib/oci/reference.ts';
import { parseReference } from './reference.ts';

const HEX = 'a'.repeat(64);

describe('parseReference', () => {
  test.each([
    ['busybox', 'docker.io/library/busybox:latest'],
    ['busybox:1.36', 'docker.io/library/busybox:1.36'],
    ['team/app', 'docker.io/team/app:latest'],
    ['docker.io/busybox', 'docker.io/library/busybox:latest'],
    ['index.docker.io/busybox', 'docker.io/library/busybox:latest'],
    ['localhost/app', 'localhost/app:latest'],
    ['localhost:5000/app:v1', 'localhost:5000/app:v1'],
    ['registry.example/team/app:1.2', 'registry.example/team/app:1.2'],
    ['Registry/app', 'Registry/app:latest'],
    ['[::1]:5000/app', '[::1]:5000/app:latest'],
    ['127.0.0.1:5000/a/b/c__d/e-f.g', '127.0.0.1:5000/a/b/c__d/e-f.g:latest'],
    [`busybox@sha256:${HEX}`, `docker.io/library/busybox@sha256:${HEX}`],
    [`registry.example/app:1@sha256:${HEX}`, `registry.example/app@sha256:${HEX}`],
  ])('%s means %s', (text, name) => {
    expect(fullName(parseReference(text))).toBe(name);
  });

  test.each([
    ['', 'invalid reference format'],
    ['a b', 'invalid reference format'],
    ['-app', 'invalid reference format'],
    ['app:', 'invalid reference format'],
    ['app:-x', 'invalid reference format'],
    [`app:${'x'.repeat(129)}`, 'invalid reference format'],
    ['http://registry.example/app', 'invalid reference format'],
    ['registry.example//app', 'invalid reference format'],
    ['../../etc/passwd', 'invalid reference format'],
    ['x'.repeat(5000), 'invalid reference format'],
    ['Busybox', 'invalid reference format: repository name (library/Busybox) must be lowercase'],
    [HEX, `invalid repository name (${HEX}), cannot specify 64-byte hexadecimal strings`],
    [`registry.example/${'x'.repeat(256)}`, 'repository name must not be more than 255 characters'],
    [`app@sha256:${'a'.repeat(63)}`, 'invalid checksum digest length'],
    [`app@sha256:${'A'.repeat(64)}`, 'invalid checksum digest format'],
    [`app@md5:${'a'.repeat(32)}`, 'unsupported digest algorithm'],
  ])('%j is refused in the words of the kubelet', (text, problem) => {
    const quoted = JSON.stringify(text);
    expect(() => parseReference(text)).toThrow(
      expect.objectContaining({
        reason: 'InvalidImageName',
        message: `Failed to apply default image tag ${quoted}: couldn't parse image name ${quoted}: ${problem}`,
      }),
    );
  });
});

import type { ContainerSpec } from '../../../src/engine/node/drivers/driver.ts';
import { toolsImage } from './tools-image.ts';

export const TEST_POD = { namespace: 'default', name: 'web', uid: '5f3c1f3e-9d2b-4c53-8f0e-0d7f6a1b2c3d' };

/** A container that runs a script in a shell; whatever matters to a test is said by the test. */
export function aContainer(script: string, more: Partial<ContainerSpec> = {}): ContainerSpec {
  const attempt = more.attempt ?? 0;
  return {
    id: `${TEST_POD.uid}.main.${attempt}`,
    pod: TEST_POD,
    name: 'main',
    attempt,
    image: toolsImage,
    command: ['/bin/sh', '-c', script],
    env: {},
    hostname: 'web-0',
    user: { groups: [], mustNotBeRoot: false },
    mounts: [],
    limits: { pids: 200 },
    security: {
      privileged: false,
      readOnlyRoot: false,
      allowPrivilegeEscalation: true,
      addCapabilities: [],
      dropCapabilities: [],
      seccomp: { type: 'RuntimeDefault' },
      hostPid: false,
      hostIpc: false,
    },
    terminal: false,
    stdin: false,
    stdinOnce: false,
    logPath: '/dev/null',
    ...more,
  };
}

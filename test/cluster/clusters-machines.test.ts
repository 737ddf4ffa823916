import { beforeAll } from 'vitest';
import { qemuBackend } from '../../src/areas/clusters/machines/qemu/qemu-backend.ts';
import { umlBackend } from '../../src/areas/clusters/machines/uml/uml-backend.ts';
import { machinesSuite } from '../conformance/machines/machines.suite.ts';
import { guestKernel, nodeTools } from './node-tools.ts';

beforeAll(async () => {
  await nodeTools('qemu-system-x86_64', 'linux.uml', 'bwrap', 'busybox', 'ip', 'nft');
  await guestKernel();
}, 600_000);

const PANIC = /sysrq(: Trigger a crash| triggered crash)/i;
machinesSuite({ provider: 'tcg', backend: () => qemuBackend('tcg'), panic: PANIC, isEnclosed: true });
machinesSuite({
  provider: 'uml',
  backend: () => umlBackend(),
  panic: PANIC,
  isEnclosed: true,
  readsItsHost: true,
  mayBeUnable: /^a guest (ended before it had booted|did not boot)/,
});
machinesSuite({
  provider: 'kvm',
  backend: () => qemuBackend('kvm'),
  panic: PANIC,
  isEnclosed: true,
  mayBeUnable: /^(a guest |this machine has no |there is no hardware )/,
});

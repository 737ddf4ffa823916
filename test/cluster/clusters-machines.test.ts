import { qemuBackend } from '../../src/areas/clusters/machines/qemu/qemu-backend.ts';
import { machinesSuite } from '../conformance/machines/machines.suite.ts';

machinesSuite({ provider: 'tcg', backend: () => qemuBackend('tcg'), panic: /sysrq triggered crash/i });

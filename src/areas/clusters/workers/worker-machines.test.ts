import { describe, expect, it } from 'vitest';
import type { KernelIsolation } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { Machines } from '../machines/machines.ts';
import { WorkerMachines, type MachineKind, type MachineWish } from './worker-machines.ts';

const KINDS: MachineKind[] = ['gvisor', 'tcg', 'uml', 'kvm'].map((name) => ({ name, isolation: name === 'gvisor' ? 'Sandbox' : 'Kernel' }));

function having(unable: Record<string, string>): { machines: WorkerMachines; asked: string[] } {
  const asked: string[] = [];
  const providers = KINDS.map(
    ({ name, isolation }) =>
      ({
        provider: name,
        isolation,
        onEnd: () => () => {},
        unable: () => (asked.push(name), Promise.resolve(unable[name])),
      }) as unknown as Machines,
  );
  return { machines: new WorkerMachines(KINDS, () => Promise.resolve(providers)), asked };
}

describe('choose', () => {
  const any: MachineWish = { isolation: 'Sandbox' };
  it.each<[string, Record<string, string>, MachineWish, string]>([
    ['hardware first', {}, any, 'kvm'],
    ['user-mode Linux before emulation', { kvm: 'no' }, any, 'uml'],
    ['emulation before a sandbox', { kvm: 'no', uml: 'no' }, any, 'tcg'],
    ['a sandbox when there is no kernel', { kvm: 'no', uml: 'no', tcg: 'no' }, any, 'gvisor'],
    ['the one that is named', {}, { ...any, machine: 'tcg' }, 'tcg'],
    [
      'nothing weaker than asked for',
      { kvm: 'a', uml: 'b', tcg: 'c' },
      { isolation: 'Kernel' },
      'isolation Kernel here (kvm: a; uml: b; tcg: c)',
    ],
    ['no other than the one that is named', { tcg: 'no program' }, { ...any, machine: 'tcg' }, 'of the kind tcg here (tcg: no program)'],
  ])('%s', async (_name, unable, wish, expected) => {
    const choice = await having(unable).machines.choose(wish);
    expect('problem' in choice ? choice.problem : choice.machines.provider).toContain(expected);
  });

  it('asks no more than it needs to', async () => {
    const { machines, asked } = having({ kvm: 'no' });
    await machines.choose(any);
    expect(asked).toEqual(['kvm', 'uml']);
  });
});

it('what is offered is what nobody has tried in vain', async () => {
  const { machines } = having({ kvm: 'no', uml: 'no' });
  const names = () => machines.offered.map(({ name }) => name);
  expect(names()).toEqual(['gvisor', 'tcg', 'uml', 'kvm']);
  await machines.choose({ isolation: 'Kernel' satisfies KernelIsolation });
  expect(names()).toEqual(['gvisor', 'tcg']);
});

import { describe, expect, it } from 'vitest';
import { KernelTable } from '../testing/kernel-table.ts';
import { NftTable } from './nft-table.ts';

function tableWithKernel() {
  const table = new NftTable('t', '');
  const kernel = new KernelTable();
  table.declareSet('map', { kind: 'map', definition: 'type ipv4_addr : verdict;' });
  kernel.apply(table.takeWhole());
  return { table, kernel };
}

describe('NftTable', () => {
  it('writes nothing when a change was taken back', () => {
    const { table } = tableWithKernel();
    table.addElement('map', '10.0.0.1', 'drop');
    table.deleteElement('map', '10.0.0.1');
    table.declareSet('s', { kind: 'set', definition: 'type ipv4_addr;' });
    table.deleteSet('s');
    expect(table.takeChanges()).toBe('');
  });

  it('replaces the value of an element by taking the old one away first', () => {
    const { table, kernel } = tableWithKernel();
    table.addElement('map', '10.0.0.1', 'drop');
    kernel.apply(table.takeChanges());
    table.addElement('map', '10.0.0.1', 'accept');
    const changes = table.takeChanges();
    expect(changes).toBe('delete element ip t map { 10.0.0.1 }\nadd element ip t map { 10.0.0.1 : accept }\n');
    kernel.apply(changes);
  });

  it('moves an element from one chain to another in one step, in an order that the kernel takes', () => {
    const { table, kernel } = tableWithKernel();
    table.declareSet('old', { kind: 'set', definition: 'type ipv4_addr;' });
    table.addElement('old', '10.0.0.2');
    table.setChain('first', ['ip saddr @old accept']);
    table.addElement('map', '10.0.0.1', 'jump first');
    kernel.apply(table.takeChanges());
    table.declareSet('new', { kind: 'set', definition: 'type ipv4_addr;' });
    table.setChain('second', ['ip saddr @new accept']);
    table.addElement('map', '10.0.0.1', 'jump second');
    table.deleteChain('first');
    table.deleteSet('old');
    kernel.apply(table.takeChanges());
    expect([...kernel.chains.keys()]).toEqual(['second']);
    expect([...kernel.sets.keys()]).toEqual(['map', 'new']);
    expect(kernel.sets.get('map')!.get('10.0.0.1')).toBe('jump second');
  });

  it('takes up a set again that was given up before anything was written', () => {
    const { table, kernel } = tableWithKernel();
    table.declareSet('s', { kind: 'set', definition: 'type ipv4_addr;' });
    table.addElement('s', '10.0.0.1');
    table.addElement('s', '10.0.0.2');
    kernel.apply(table.takeChanges());
    table.deleteSet('s');
    table.declareSet('s', { kind: 'set', definition: 'type ipv4_addr;' });
    table.addElement('s', '10.0.0.2');
    kernel.apply(table.takeChanges());
    expect([...kernel.sets.get('s')!.keys()]).toEqual(['10.0.0.2']);
  });

  it('says what is wrong when a set is used that was not declared', () => {
    expect(() => new NftTable('t', '').addElement('s', '10.0.0.1')).toThrow('Cannot change the set "s"');
  });
});

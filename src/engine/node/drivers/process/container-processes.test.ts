import { describe, expect, it } from 'vitest';
import { membersOf, parseUsage } from './container-processes.ts';

const entry = (pid: number, parent: number, session: number) => ({ pid, parent, session, cpuTicks: 1, memoryPages: 1 });

describe('membersOf', () => {
  const all = [
    entry(1, 0, 1),
    entry(10, 1, 10),
    entry(11, 10, 10),
    entry(12, 11, 12),
    // An orphan of the container that its grandparent took in.
    entry(13, 1, 10),
    entry(20, 1, 20),
    entry(21, 20, 20),
  ];

  it('finds descendants, also those in sessions of their own, and orphans by their session, the leader first', () => {
    expect(membersOf(10, all).map(({ pid }) => pid)).toEqual([10, 11, 13, 12]);
  });

  it('finds nothing when the leader is gone with all of its own', () => {
    expect(membersOf(99, all)).toEqual([]);
  });
});

describe('parseUsage', () => {
  it('counts processor time of the process and its ended children', () => {
    const text = '42 (we ird) name) S 1 42 42 0 -1 4194304 10 0 0 0 5 6 7 8 20 0 1 0 987654 1000 250 18446';
    expect(parseUsage(text)).toEqual({ pid: 42, parent: 1, session: 42, cpuTicks: 26, memoryPages: 250 });
  });
});

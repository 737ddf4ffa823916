import { describe, expect, it } from 'vitest';
import { Allocation, PORTS, USERS } from './allocation.ts';
import type { ClusterRecord } from './cluster-folder.ts';

const aRecord = (port: number, more: Partial<ClusterRecord> = {}): ClusterRecord => ({ namespace: 'acme', name: 'dev', port, ...more });

describe('Allocation', () => {
  it('gives the same to the same folder, and something else to another', () => {
    expect(new Allocation('/a', []).port()).toBe(new Allocation('/a', []).port());
    expect(new Allocation('/a', []).port()).not.toBe(new Allocation('/b', []).port());
  });

  it('gives no port that a cluster has for whatever purpose, that was refused, or that it gave before', () => {
    const first = new Allocation('/a', []).port();
    const records = [aRecord(first, { tunnelPort: first + 1, innerPorts: [first + 2, first + 3] })];
    const allocation = new Allocation('/a', records, [first + 4]);
    expect([allocation.port(), allocation.port()]).toEqual([first + 5, first + 6]);
  });

  it('gives each cluster a user and a link of its own', () => {
    const [user, link] = [new Allocation('/a', []).user(), new Allocation('/a', []).link()];
    const allocation = new Allocation('/a', [aRecord(1, { user, link })]);
    expect(allocation.user()).toBe(user + 1);
    expect(allocation.link()).toBe(link + 1);
    expect(user).toBeGreaterThanOrEqual(USERS.first);
  });

  it('says so when there is none left', () => {
    const records = Array.from({ length: PORTS.size }, (_, index) => aRecord(PORTS.first + index));
    expect(() => new Allocation('/a', records).port()).toThrow('there is no port left for another cluster; delete one');
  });
});

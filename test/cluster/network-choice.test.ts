import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chooseNetwork } from '../../src/engine/node/network/choose-network.ts';
import { realClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { startInMemoryEngine, type InMemoryEngine } from '../integration/controllers/engine-in-memory.ts';
import { nodeTools } from './node-tools.ts';

let engine: InMemoryEngine;
const dir = mkdtempSync(join(tmpdir(), 'tenantry-choice-'));
beforeAll(async () => {
  await nodeTools('ip', 'nft');
  engine = await startInMemoryEngine();
});
afterAll(async () => {
  await engine.stop();
  rmSync(dir, { recursive: true });
});

const choose = () =>
  chooseNetwork({
    client: engine.client,
    clock: realClock,
    log: silentLog,
    dir,
    serviceCidr: '10.0.0.0/24',
    apiServer: { address: '127.0.0.1', port: 6443 },
  });

it('root with nftables gets networks for Pods, and the probe leaves nothing', async () => {
  const network = await choose();
  expect(network.enforcesPolicies).toEqual({ status: true, reason: 'Nftables', message: 'NetworkPolicies are enforced with nftables' });
  expect(network.dns).toEqual({ address: '10.0.0.10', domain: 'cluster.local' });
  expect(readdirSync('/run/netns').filter((name) => name.startsWith('tenantry-probe'))).toEqual([]);
});

it('another user gets the network of the machine, with the reason', async () => {
  const { getuid } = process;
  process.getuid = () => 1000;
  try {
    const { enforcesPolicies, dns } = await choose();
    expect(enforcesPolicies).toMatchObject({ status: false, reason: 'NotRoot' });
    expect(enforcesPolicies.message).toContain('run as root on Linux');
    expect(dns).toBeUndefined();
  } finally {
    process.getuid = getuid;
  }
});

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readState, STATE_SCRIPT } from './namespace-state.ts';

const LINK = `[{"ifname":"eth0","addr_info":[{"family":"inet","local":"10.0.0.1","prefixlen":24}]}]`;
const TOOL = '#!/bin/sh\n';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-state-'));
  tool('nft', 'echo "table inet tenantry"');
  tool('sleep', ':');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function tool(name: string, text: string): void {
  writeFileSync(join(folder, name), `${TOOL}${text}\n`, { mode: 0o755 });
}

/** As pieces of scripts are run: what is said on both outputs is one text. */
function look(): { status: number | null; output: string } {
  const env = { PATH: `${folder}${delimiter}${process.env['PATH']}`, COUNT: join(folder, 'count') };
  const { status, stdout } = spawnSync('sh', ['-c', 'exec sh -e 2>&1'], { input: STATE_SCRIPT, env, encoding: 'utf8', timeout: 20_000 });
  return { status, output: stdout };
}

describe('the state of a namespace', () => {
  it('is read again when it changed meanwhile', () => {
    tool('ip', `echo x >> $COUNT; [ $(wc -l < $COUNT) -gt 2 ] || { echo 'Dump was interrupted' >&2; echo '['; exit 0; }; echo '${LINK}'`);
    const { status, output } = look();
    expect(status).toBe(0);
    expect([...readState(output).addresses]).toEqual([['10.0.0.1/24', 'eth0']]);
  });

  it('is what there is, without what a tool has to say besides', () => {
    tool('ip', `echo 'RTNETLINK: a warning' >&2; echo '${LINK}'`);
    const { links, tables } = readState(look().output);
    expect([[...links], tables.has('inet tenantry')]).toEqual([['eth0'], true]);
  });

  it('cannot be told when it never stands still, which ends', () => {
    tool('ip', `echo 'Dump was interrupted and may be inconsistent.' >&2; echo '${LINK}'`);
    const { status, output } = look();
    expect([status, output]).toEqual([1, 'links and routes change faster than they can be read\n']);
  });

  it('cannot be told when a tool fails, which says why', () => {
    tool('ip', 'echo "not permitted" >&2; exit 2');
    const { status, output } = look();
    expect([status, output.trim()]).toEqual([2, 'not permitted']);
  });
});

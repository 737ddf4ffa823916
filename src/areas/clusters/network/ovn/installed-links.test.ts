import { beforeEach, describe, expect, it } from 'vitest';
import { aPort, aVpc } from '../testing/some-vpcs.ts';
import { InstalledLinks } from './installed-links.ts';
import { portOf } from './names.ts';

const worker = aPort('w', '10.0.1.10');
const [a, b] = ['a', 'b'].map((name) => aVpc(name, { ports: [worker] }));
const [ofA, ofB] = ['a', 'b'].map((name) => portOf(name, worker));

/** A switch with these links; what is said of one is what is wrong with it. */
let links: Map<string, { installed: boolean; error?: string }>;
let isAnswering: boolean;
let waits: string[][];

function run(args: readonly string[]): Promise<string> {
  if (!isAnswering) return Promise.reject(new Error('connection refused'));
  if (args.includes('wait-until')) {
    const awaited = args.filter((_word, position) => args[position - 1] === 'Interface');
    waits.push(awaited);
    return awaited.every((link) => links.get(link)?.installed) ? Promise.resolve('') : Promise.reject(new Error('SIGALRM'));
  }
  const data = [...links].map(([name, { installed, error }]) => [
    name,
    ['map', [['iface-id', name], ...(installed ? [['ovn-installed', 'true']] : [])]],
    error ?? ['set', []],
  ]);
  return Promise.resolve(`${JSON.stringify({ headings: ['name', 'external_ids', 'error'], data })}\n`);
}

beforeEach(() => {
  links = new Map([ofA, ofB].map((link) => [link, { installed: true }]));
  isAnswering = true;
  waits = [];
});

describe('the links of workers', () => {
  const problems: [what: string, change: () => void, message: RegExp][] = [
    ['never comes', () => links.set(ofB, { installed: false }), /VPC "b": OVN has not taken up the link p/],
    ['has an error', () => links.set(ofB, { installed: false, error: 'could not open network device' }), /could not open network device/],
    ['is not in the switch', () => links.delete(ofB), /the switch has no link p/],
  ];
  it.each(problems)('fail the VPC of the one that %s, and no other', async (_what, change, message) => {
    change();
    const failed = await new InstalledLinks(run).wait([a, b]);
    expect([...failed.keys()]).toEqual(['b']);
    expect(failed.get('b')!.message).toMatch(message);
  });

  it('are waited for together, and asked for nothing else, when all of them come', async () => {
    expect(await new InstalledLinks(run).wait([a, b])).toEqual(new Map());
    expect(waits).toEqual([[ofA, ofB]]);
  });

  it('keep nobody waiting a second time when one was late, and are good when it has come', async () => {
    const installed = new InstalledLinks(run);
    links.set(ofB, { installed: false });
    await installed.wait([b]);
    expect([...(await installed.wait([a, b])).keys()]).toEqual(['b']);
    links.set(ofB, { installed: true });
    expect(await installed.wait([b])).toEqual(new Map());
    expect(waits).toEqual([[ofB], [ofA]]);
    await installed.wait([b]);
    expect(waits.at(-1)).toEqual([ofB]);
  });

  it('are unknown, which is no VPC’s failure, when the switch does not answer', async () => {
    isAnswering = false;
    await expect(new InstalledLinks(run).wait([a])).rejects.toThrow('connection refused');
  });
});

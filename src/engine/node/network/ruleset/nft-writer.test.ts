import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { silentLog } from '../../../../lib/log.ts';
import { NftTable } from './nft-table.ts';
import { NftWriter } from './nft-writer.ts';

function writer(run: (text: string, round: number) => void) {
  const table = new NftTable('t', 'chain base {}');
  table.declareSet('s', { kind: 'set', definition: 'type ipv4_addr;' });
  const texts: string[] = [];
  const clock = new FakeClock();
  return {
    clock,
    table,
    texts,
    writer: new NftWriter({
      table,
      clock,
      log: silentLog,
      async run(text) {
        texts.push(text);
        run(text, texts.length);
      },
    }),
  };
}

describe('NftWriter', () => {
  it('writes all at first, then only what changed, then nothing', async () => {
    const { table, texts, writer: subject } = writer(() => {});
    await subject.flush();
    table.addElement('s', '10.0.0.1');
    await Promise.all([subject.flush(), subject.flush()]);
    await subject.flush();
    expect(texts).toHaveLength(2);
    expect(texts[0]).toContain('table ip t {\nchain base {}\n}');
    expect(texts[1]).toBe('add element ip t s { 10.0.0.1 }\n');
  });

  it('writes all when the kernel refuses a change', async () => {
    const {
      table,
      texts,
      writer: subject,
    } = writer((_, round) => {
      if (round === 2) throw new Error('Device or resource busy');
    });
    await subject.flush();
    table.addElement('s', '10.0.0.1');
    await subject.flush();
    expect(texts[2]).toMatch(/^add table ip t\ndelete table ip t\n[^]*add element ip t s \{ 10\.0\.0\.1 \}\n$/);
  });

  it('fails those who wait when nothing can be written, and tries again by itself', async () => {
    let broken = true;
    const {
      table,
      texts,
      clock,
      writer: subject,
    } = writer(() => {
      if (broken) throw new Error('no');
    });
    await expect(subject.flush()).rejects.toThrow('no');
    await clock.advance(1000);
    expect(texts).toHaveLength(2);
    broken = false;
    table.addElement('s', '10.0.0.1');
    await clock.advance(1000);
    expect(texts).toHaveLength(3);
    expect(texts[2]).toMatch(/delete table[^]*10\.0\.0\.1/);
    expect(clock.pendingTimers).toBe(0);
  });
});

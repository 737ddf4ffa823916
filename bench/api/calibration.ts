import { spawnSync } from 'node:child_process';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the machine gives today, so that absolute figures can be read: process spawns and durable 4 KiB appends per second, load. */
export function calibrate(): string {
  let started = performance.now();
  for (let i = 0; i < 100; i++) spawnSync('/bin/true');
  const spawns = 100_000 / (performance.now() - started);
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-calibration-'));
  const file = openSync(join(folder, 'log'), 'a');
  const block = Buffer.alloc(4096, 1);
  started = performance.now();
  for (let i = 0; i < 500; i++) {
    writeSync(file, block);
    fdatasyncSync(file);
  }
  const syncs = 500_000 / (performance.now() - started);
  closeSync(file);
  rmSync(folder, { recursive: true });
  return `machine: ${spawns.toFixed(0)} spawns/s, ${syncs.toFixed(0)} fdatasync/s, load ${loadavg()[0].toFixed(2)}, Node ${process.version}`;
}

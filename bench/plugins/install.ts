import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleFiles } from '../../src/cli/plugin/sample-plugin.ts';
import { pushPluginImage } from '../../test/cluster/plugin-image.ts';
import { startEngineProcess } from '../tenancy/engine-process.ts';
import { PluginBench, spread } from './plugin-bench.ts';

const INSTALLS = 8;
const BAR_MS = 3_000;

/** A small plugin whose image is there, in a real container: until it is ACTIVE, with database, migrations, roles, policies and token. */
export async function benchInstall(): Promise<void> {
  const bench = await PluginBench.start();
  const sample = mkdtempSync(join(tmpdir(), 'tenantry-bench-sample-'));
  for (const [name, text] of Object.entries(sampleFiles({ name: 'small', publisher: 'acme', image: 'x' }))) {
    mkdirSync(join(sample, name, '..'), { recursive: true });
    writeFileSync(join(sample, name), text);
  }
  const engine = await startEngineProcess(bench.data, [], 'auto');
  try {
    const { client } = engine;
    pushPluginImage(bench.registry, 'acme/small', '1.0.0', sample);
    await bench.publisher(client);
    const files = { 'db/001_notes.sql': 'CREATE TABLE notes (id bigserial PRIMARY KEY, text text NOT NULL)' };
    const verified = await bench.publish(
      client,
      'small',
      { database: { migrations: { path: 'db' } }, permissions: ['content.read'] },
      files,
    );
    await bench.tenant(client, 'first');
    const first = await bench.install(client, 'first', 'small');
    const times: number[] = [];
    for (let index = 0; index < INSTALLS; index++) {
      await bench.tenant(client, `t${index}`);
      times.push(await bench.install(client, `t${index}`, 'small'));
    }
    console.log(`published until VERIFIED: ${verified.toFixed(0)} ms`);
    console.log(`first install, with its image, a node agent and a PostgreSQL to come: ${first.toFixed(0)} ms`);
    console.log(`install until ACTIVE, image present (bar ${BAR_MS} ms): ${spread(times)}`);
  } finally {
    await engine.stop();
    await bench.stop();
    rmSync(sample, { recursive: true, force: true });
  }
}

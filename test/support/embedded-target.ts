import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/kube/object.ts';
import { silentLog } from '../../src/lib/log.ts';
import { startEngine, type Engine, type EngineOptions } from '../../src/main/engine.ts';
import { connectTarget, type ApiTarget } from './api-target.ts';

export interface EmbeddedTarget extends ApiTarget {
  engine: Engine;
  data: string;
}

/** The embedded engine in this process, in a temporary directory, reached over TLS as the admin; with areas when their Kinds are given. */
export async function startEmbeddedTarget(areas?: () => KubeObject[], more: Pick<EngineOptions, 'clusters'> = {}): Promise<EmbeddedTarget> {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-test-'));
  const engine = await startEngine({
    data,
    address: '127.0.0.1',
    port: 0,
    fallBackToFreePort: false,
    version: '0.0.0-test',
    log: silentLog,
    areas,
    ...more,
  });
  const pem = (name: string) => readFileSync(join(data, 'pki', name), 'utf8');
  const target = connectTarget({
    name: 'embedded',
    url: engine.url,
    kubeconfig: engine.kubeconfig,
    ca: pem('ca.crt'),
    certificate: { cert: pem('admin.crt'), key: pem('admin.key') },
    close: async () => {
      await engine.stop();
      rmSync(data, { recursive: true, force: true });
    },
  });
  return { ...target, engine, data };
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type } from '../e2e/command.ts';
import type { ApiTarget } from '../support/api-target.ts';
import { binary } from './binaries.ts';
import { hncBinary } from './hnc-binaries.ts';

/** HNC's own command line against a server of trees. One story: each test goes on where the one before it ended. */
export function kubectlHnsSuite(name: string, start: () => Promise<ApiTarget>): void {
  describe(`kubectl-hns on ${name}`, { timeout: 120_000 }, () => {
    let target: ApiTarget;
    let folder: string;
    const programs = { hns: '', kubectl: '' };

    beforeAll(async () => {
      [programs.hns, programs.kubectl] = await Promise.all([hncBinary('kubectl-hns'), binary('kubectl')]);
      folder = mkdtempSync(join(tmpdir(), 'tenantry-hns-'));
      target = await start();
    }, 900_000);
    afterAll(async () => {
      await target?.close();
      if (folder) rmSync(folder, { recursive: true, force: true });
    });

    const run = (program: keyof typeof programs, line: string) =>
      type(programs[program], line.split(' '), { KUBECONFIG: target.kubeconfig, KUBECACHEDIR: join(folder, 'cache'), HOME: folder });
    const works = async (program: keyof typeof programs, line: string): Promise<string> => {
      const { code, stdout, stderr } = await run(program, line);
      if (code !== 0) throw new Error(`${program} ${line}: exit code ${code}: ${stdout}${stderr}`);
      return stdout + stderr;
    };
    const fails = async (program: keyof typeof programs, line: string): Promise<string> => {
      const { code, stdout, stderr } = await run(program, line);
      expect(code, `${program} ${line}: ${stdout}`).not.toBe(0);
      return stdout + stderr;
    };
    const says = (line: string, text: string) =>
      vi.waitFor(async () => expect(await works('hns', line)).toContain(text), { timeout: 20_000, interval: 100 });
    /** A write may meet one of the controllers'; people type it again. */
    const atLast = (program: keyof typeof programs, line: string) =>
      vi.waitFor(() => works(program, line), { timeout: 20_000, interval: 200 });

    test('set makes parents, and tree and describe show them', async () => {
      for (const namespace of ['acme-org', 'team-a', 'service-1']) await works('kubectl', `create namespace ${namespace}`);
      await atLast('hns', 'set team-a --parent acme-org');
      expect(await atLast('hns', 'set service-1 --parent team-a')).toContain('Setting the parent of service-1 to team-a');
      await says('tree acme-org', 'acme-org\n└── team-a\n    └── service-1\n');
      await says('describe team-a', '  Parent: acme-org\n  Children:\n  - service-1\n  No conditions\n');
      expect(await fails('hns', 'set acme-org --parent team-a')).toContain(
        'illegal parent: cycle when making "team-a" the parent of "acme-org"',
      );
    });

    test('create makes subnamespaces, and says why not', async () => {
      expect(await works('hns', 'create team-b -n acme-org')).toContain(
        'Successfully created "team-b" subnamespace anchor in "acme-org" namespace',
      );
      await says('tree acme-org', 'acme-org\n├── team-a\n│   └── service-1\n└── [s] team-b\n\n[s] indicates subnamespaces\n');
      expect(await fails('hns', 'create team-b -n team-a')).toContain('cannot create a subnamespace using an existing namespace');
      expect(await fails('hns', 'set team-b --root')).toContain("because it's a subnamespace of");
    });

    test('cascading deletion has to be allowed', async () => {
      await works('hns', 'create dev -n team-b');
      await says('tree team-b', 'team-b\n└── [s] dev');
      expect(await fails('kubectl', 'delete namespace dev')).toContain('is a subnamespace. Please delete the anchor');
      expect(await fails('kubectl', 'delete subns team-b -n acme-org')).toContain('is not a leaf');
      await atLast('hns', 'set team-b --allowCascadingDeletion');
      await works('kubectl', 'delete subns team-b -n acme-org --timeout=90s');
      expect(await fails('kubectl', 'get namespace dev')).toContain('not found');
      await says('tree acme-org', 'acme-org\n└── team-a\n    └── service-1\n');
    });

    test('trouble is shown where it is', async () => {
      await works('kubectl', 'delete namespace team-a --timeout=60s');
      await says('describe service-1', 'ActivitiesHalted (ParentMissing): Parent "team-a" does not exist');
      await says('tree service-1', 'service-1 (1)');
      await atLast('hns', 'set service-1 --root');
      await says('describe service-1', 'No parent\n  No children\n  No conditions');
    });

    test('config says what is copied, and asks before it is much', async () => {
      await atLast('hns', 'config set-resource secrets --mode Ignore');
      expect(await fails('hns', 'config set-resource secrets --mode Propagate')).toContain('--force');
      await atLast('hns', 'config set-resource secrets --mode Propagate --force');
      await vi.waitFor(async () => expect(await works('hns', 'config describe')).toMatch(/Propagating: secrets \(\/v1\)/), {
        timeout: 20_000,
      });
      await works('kubectl', 'create secret generic my-creds --from-literal=password=x -n acme-org');
      await atLast('hns', 'set service-1 --parent acme-org');
      await vi.waitFor(() => works('kubectl', 'get secret my-creds -n service-1'), { timeout: 20_000, interval: 100 });
      expect(await fails('kubectl', 'delete secret my-creds -n service-1')).toContain(
        'cannot delete object propagated from namespace "acme-org"',
      );
    });

    test("an owner draws the whole of his tenant's tree, and nobody else's", async () => {
      const tenant = { apiVersion: 'tenantry.dev/v1alpha1', kind: 'Tenant', metadata: { name: 'owned' } };
      writeFileSync(join(folder, 'tenant.json'), JSON.stringify({ ...tenant, spec: { owners: [{ kind: 'User', name: 'alice' }] } }));
      await works('kubectl', `apply -f ${join(folder, 'tenant.json')}`);
      await atLast('hns', 'create owned--dev -n owned --as alice');
      await vi.waitFor(
        async () =>
          expect(await works('hns', 'tree owned --as alice')).toBe(
            'owned\n├── [s] owned--dev\n└── owned--sys\n\n[s] indicates subnamespaces\n',
          ),
        { timeout: 30_000, interval: 200 },
      );
      expect(await fails('hns', 'tree acme-org --as alice')).toContain('forbidden');
    });
  });
}

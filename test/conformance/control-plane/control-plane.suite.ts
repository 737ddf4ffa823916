import { randomUUID, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PLACED_FROM_LABEL } from '../../../src/api/tenantry.dev/v1alpha1/cluster-names.ts';
import { forgetAuthorities, hasOthers } from '../../../src/areas/clusters/cluster/forget-authorities.ts';
import type {
  CertificatePair,
  ControlPlanes,
  RunningControlPlane,
  WantedControlPlane,
} from '../../../src/areas/clusters/control-plane/control-planes.ts';
import { PlaneAuthorities } from '../../../src/areas/clusters/control-plane/process/plane-authorities.ts';
import { createClient } from '../../../src/client/client.ts';
import { certificateCredentials } from '../../../src/client/config/credentials.ts';
import { createHttpTransport } from '../../../src/client/http/http-transport.ts';
import { ConfigMap } from '../../../src/client/kinds.ts';
import { FakeClock } from '../../../src/lib/clock-fake.ts';
import { processTable } from '../../../src/lib/process-table.ts';
import { connectTarget, type ApiTarget } from '../../support/api-target.ts';

/** What a provider must give for the suite. */
export interface ControlPlaneWorld {
  /** A provider on the folder, as the first start or any later one makes it. */
  open(root: string, clock: FakeClock): ControlPlanes | Promise<ControlPlanes>;
  /** The processes of a control plane. */
  processesOf(root: string, id: string): number[];
  /** Those of them that new certificates do not end. */
  steadyProcessesOf(root: string, id: string): number[];
  /** Makes those of its certificates that are missing or have to be renewed, so many days ago. It sleeps. */
  makeKeys(root: string, wanted: WantedControlPlane, daysAgo: number): Promise<void>;
  /** Names of its authorities, with the common names of their certificates. */
  authorities: Readonly<Record<string, string>>;
  version: string;
}

const DAY_MS = 24 * 3600 * 1000;
const LONG = { timeout: 300_000 };

const RUNS = '/apis/kruntimes.io/v1alpha1/namespaces/default/runs';
/** As far as it matters here. */
const RUN_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'runs.kruntimes.io' },
  spec: {
    group: 'kruntimes.io',
    scope: 'Namespaced',
    names: { plural: 'runs', singular: 'run', kind: 'Run', listKind: 'RunList' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** What every provider of control planes must do, whatever it makes them of. */
export function controlPlaneConformance(name: string, world: ControlPlaneWorld): void {
  describe(`control planes: ${name}`, () => {
    let root: string;
    let clock: FakeClock;
    let planes: ControlPlanes;
    const targets: ApiTarget[] = [];
    const made: string[] = [];

    beforeAll(async () => {
      root = mkdtempSync(join(tmpdir(), 'tenantry-planes-'));
      clock = new FakeClock(new Date().toISOString());
      planes = await world.open(root, clock);
    });
    afterEach(async () => {
      await Promise.all(targets.splice(0).map((target) => target.close()));
      await Promise.all(made.splice(0).map((id) => planes.remove(id)));
    });
    afterAll(async () => {
      await planes.close();
      rmSync(root, { recursive: true, force: true });
    });

    const aCluster = (changes: Partial<WantedControlPlane> = {}): WantedControlPlane => {
      const id = randomUUID();
      made.push(id);
      return { id, namespace: 'acme', name: `c-${id.slice(0, 8)}`, version: world.version, names: [], accessRevision: 0, ...changes };
    };
    const as = (running: RunningControlPlane, { certificatePem, keyPem }: CertificatePair, url = running.endpoint): ApiTarget => {
      const certificate = { cert: certificatePem, key: keyPem };
      const target = connectTarget({ name, url, kubeconfig: '', ca: running.authorityPem, certificate, close: () => Promise.resolve() });
      targets.push(target);
      return target;
    };
    const write = async (target: ApiTarget, configMap: string) => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: configMap }, data: { at: configMap } };
      expect((await target.request('POST', '/api/v1/namespaces/default/configmaps', body)).status).toBe(201);
    };
    const has = async (target: ApiTarget, configMap: string) =>
      (await target.request('GET', `/api/v1/namespaces/default/configmaps/${configMap}`)).status === 200;
    const writeRun = async (target: ApiTarget, run: string, labels: Record<string, string>) => {
      await target.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', RUN_DEFINITION);
      const body = { apiVersion: 'kruntimes.io/v1alpha1', kind: 'Run', metadata: { name: run, labels } };
      await vi.waitUntil(async () => (await target.request('POST', RUNS, body)).status === 201, { timeout: 60_000, interval: 100 });
    };
    const rootCaOf = async (running: RunningControlPlane) =>
      (await as(running, running.platform).request('GET', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt')).body.data?.['ca.crt'];
    /** Its controllers have read their keys: one that is on its way up when they change is started once more. */
    const isUp = (running: RunningControlPlane) => expect.poll(() => rootCaOf(running), { timeout: 60_000 }).toBe(running.authorityPem);
    const bindOwners = async (running: RunningControlPlane) => {
      const binding = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'owners' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: running.ownerGroup }],
      };
      const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
      const { status } = await as(running, running.platform).request('POST', path, binding);
      if (status === 409) await as(running, running.platform).request('PUT', `${path}/owners`, binding);
    };
    const died = (id: string) =>
      new Promise<void>((resolve) => {
        const stop = planes.onChange((changed) => {
          if (changed !== id) return;
          stop();
          resolve();
        });
      });

    it('a control plane answers, and its owners have the rights that a binding gives them and no others', LONG, async () => {
      const running = await planes.run(aCluster());
      expect((await as(running, running.platform).request('GET', '/readyz')).status).toBe(200);
      expect((await as(running, running.owner).request('GET', '/api/v1/secrets')).status).toBe(403);
      await bindOwners(running);
      expect((await as(running, running.owner).request('GET', '/api/v1/secrets')).status).toBe(200);
    });

    it('one that runs is left alone when it is asked for again', LONG, async () => {
      const wanted = aCluster();
      const first = await planes.run(wanted);
      const processes = world.processesOf(root, wanted.id);
      const again = await planes.run(wanted);
      expect(again.endpoint).toBe(first.endpoint);
      expect(world.processesOf(root, wanted.id)).toEqual(processes);
    });

    it('kill -9 of a process is told and repaired, and nothing is lost', LONG, async () => {
      const wanted = aCluster();
      const before = await planes.run(wanted);
      await write(as(before, before.platform), 'kept');
      const told = died(wanted.id);
      for (const pid of world.processesOf(root, wanted.id)) process.kill(pid, 'SIGKILL');
      await told;
      await clock.advance(60_000);
      const after = await planes.run(wanted);
      expect(after.endpoint).toBe(before.endpoint);
      expect(await has(as(after, after.platform), 'kept')).toBe(true);
    });

    it('control planes outlive whoever started them, and the next one finds them', LONG, async () => {
      const wanted = aCluster();
      const before = await planes.run(wanted);
      const processes = world.processesOf(root, wanted.id);
      await planes.close();
      expect((await as(before, before.platform).request('GET', '/readyz')).status).toBe(200);
      planes = await world.open(root, clock);
      const after = await planes.run(wanted);
      expect(after.endpoint).toBe(before.endpoint);
      expect(world.processesOf(root, wanted.id)).toEqual(processes);
      const told = died(wanted.id);
      for (const pid of processes) process.kill(pid, 'SIGKILL');
      await told;
    });

    it('one that sleeps costs no process and keeps its data', LONG, async () => {
      const wanted = aCluster();
      const before = await planes.run(wanted);
      await write(as(before, before.platform), 'kept');
      const processes = world.processesOf(root, wanted.id);
      await planes.sleep(wanted.id);
      expect(processes.filter(isAlive)).toEqual([]);
      const after = await planes.run(wanted);
      expect(after.endpoint).toBe(before.endpoint);
      expect(await has(as(after, after.platform), 'kept')).toBe(true);
    });

    it('a restore brings back the state of the backup, once, and old watches get 410', LONG, async () => {
      const wanted = aCluster();
      const before = await planes.run(wanted);
      const target = as(before, before.platform);
      await write(target, 'in-the-backup');
      await writeRun(target, 'own', {});
      await writeRun(target, 'copy', { [PLACED_FROM_LABEL]: 'acme' });
      const { body } = await target.request('GET', '/api/v1/namespaces/default/configmaps');
      expect((await planes.backup(wanted.id, 'monday')).bytes).toBeGreaterThan(0);
      await write(target, 'too-late');
      await planes.restore(wanted, { id: wanted.id, backup: 'monday' }, 'first');
      const after = await planes.run(wanted);
      const restored = as(after, after.platform);
      expect([await has(restored, 'in-the-backup'), await has(restored, 'too-late')]).toEqual([true, false]);
      const watch = await restored.watch(`/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
      const event = watch.status === 200 ? await watch.next(10_000) : { object: { code: watch.status } };
      watch.stop();
      expect(event.object.code).toBe(410);
      // What is done on the host is not done once more because of a backup.
      const { body: runs } = await restored.request('GET', `${RUNS}?limit=10`);
      expect(runs.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['own']);
      await write(restored, 'afterwards');
      await planes.restore(wanted, { id: wanted.id, backup: 'monday' }, 'first');
      expect(await has(restored, 'afterwards')).toBe(true);
    });

    it('a backup becomes a new cluster with keys and an endpoint of its own, Secrets included', LONG, async () => {
      const source = aCluster();
      const original = await planes.run(source);
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'word' }, stringData: { word: 'mellon' } };
      await as(original, original.platform).request('POST', '/api/v1/namespaces/default/secrets', secret);
      await planes.backup(source.id, 'monday');
      const wanted = aCluster();
      await planes.restore(wanted, { id: source.id, backup: 'monday' }, 'first');
      const copy = await planes.run(wanted);
      expect(copy.endpoint).not.toBe(original.endpoint);
      expect(copy.authorityPem).not.toBe(original.authorityPem);
      const { body } = await as(copy, copy.platform).request('GET', '/api/v1/namespaces/default/secrets/word');
      expect(Buffer.from(body.data.word, 'base64').toString()).toBe('mellon');
      expect((await as(copy, original.platform).request('GET', '/api/v1/secrets')).status).toBe(401);
    });

    it('what is not there is not restored', LONG, async () => {
      const wanted = aCluster();
      await expect(planes.restore(wanted, { id: wanted.id, backup: 'none' }, 'first')).rejects.toMatchObject({ reason: 'NoBackup' });
    });

    it('backups are listed, and one can be removed', LONG, async () => {
      const wanted = aCluster();
      await planes.run(wanted);
      await planes.backup(wanted.id, 'monday');
      await planes.backup(wanted.id, 'tuesday');
      await planes.removeBackup(wanted.id, 'monday');
      expect((await planes.backups(wanted.id)).map((backup) => backup.name)).toEqual(['tuesday']);
    });

    it('credentials of an earlier edition have no rights', LONG, async () => {
      const wanted = aCluster();
      const before = await planes.run(wanted);
      await bindOwners(before);
      expect((await as(before, before.owner).request('GET', '/api/v1/secrets')).status).toBe(200);
      const after = await planes.run({ ...wanted, accessRevision: 1 });
      await bindOwners(after);
      expect((await as(after, after.owner).request('GET', '/api/v1/secrets')).status).toBe(200);
      expect((await as(after, before.owner).request('GET', '/api/v1/secrets')).status).toBe(403);
    });

    it('no credential of one is good for another', LONG, async () => {
      const [a, b] = await Promise.all([planes.run(aCluster()), planes.run(aCluster())]);
      await Promise.all([bindOwners(a), bindOwners(b)]);
      for (const pair of [a.owner, a.platform]) {
        expect((await as(b, pair).request('GET', '/api/v1/namespaces')).status).toBe(401);
      }
      const token = await serviceAccountToken(as(a, a.platform));
      expect(await statusWithToken(a, token)).not.toBe(401);
      expect(await statusWithToken(b, token)).toBe(401);
      // Nor does one take the other's server for its own.
      await expect(as(a, a.owner, b.endpoint).request('GET', '/readyz')).rejects.toThrow(/certificate|signature/i);
    });

    it('certificates are renewed long before they end, without a restart', LONG, async () => {
      // A folder and a time of its own, which ends today: what is renewed is good for those who live now.
      const folder = mkdtempSync(join(tmpdir(), 'tenantry-planes-'));
      const time = new FakeClock(new Date(Date.now() - 300 * DAY_MS).toISOString());
      let renewing = await world.open(folder, time);
      const wanted = aCluster();
      try {
        const before = await renewing.run(wanted);
        await isUp(before);
        const processes = world.steadyProcessesOf(folder, wanted.id);
        const shown = await servingCertificate(before.endpoint);
        const told = new Promise<string>((resolve) => void renewing.onChange(resolve));
        for (let day = 0; day < 300; day += 1) await time.advance(DAY_MS);
        expect(await told).toBe(wanted.id);
        const after = await renewing.run(wanted);
        expect(after.authorityPem).toBe(before.authorityPem);
        expect(after.certificatesExpire).toBeGreaterThan(before.certificatesExpire);
        expect(serialOf(after.owner)).not.toBe(serialOf(before.owner));
        expect((await servingCertificate(after.endpoint)).serialNumber).not.toBe(shown.serialNumber);
        expect(world.steadyProcessesOf(folder, wanted.id)).toEqual(processes);
        expect((await as(after, after.owner).request('GET', '/version')).status).toBe(200);
        // Nor is one lost that slept until they had ended.
        await renewing.sleep(wanted.id);
        await world.makeKeys(folder, wanted, 800);
        const woken = await renewing.run(wanted);
        expect(woken.certificatesExpire).toBeGreaterThan(time.now());
        expect((await as(woken, woken.platform).request('GET', '/readyz')).status).toBe(200);
        // Not even when the authorities had, too.
        await renewing.sleep(wanted.id);
        const keys = join(folder, wanted.id, 'pki');
        for (const authority of Object.keys(world.authorities)) {
          for (const kind of ['crt', 'key']) rmSync(join(keys, `${authority}.${kind}`));
        }
        await renewing.close();
        await world.makeKeys(folder, wanted, 4000);
        renewing = await world.open(folder, time);
        const revived = await renewing.run(wanted);
        expect(revived.authorities).toMatchObject({ edition: 2, reason: 'Expired' });
        expect((await as(revived, revived.platform).request('GET', '/readyz')).status).toBe(200);
      } finally {
        await renewing.remove(wanted.id);
        await renewing.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });

    it(
      'certificates are made anew when that is asked for; new authorities sign while those of before stay trusted, until they are revoked',
      LONG,
      async () => {
        const wanted = aCluster();
        const begun = await planes.run(wanted);
        await isUp(begun);
        const processes = world.steadyProcessesOf(root, wanted.id);
        const shown = await servingCertificate(begun.endpoint);
        await clock.advance(2000);
        const first = await planes.run({ ...wanted, rotation: { certificates: 1, authorities: 0, revoke: 0 } });
        expect(first.authorityPem).toBe(begun.authorityPem);
        expect(serialOf(first.owner)).not.toBe(serialOf(begun.owner));
        const { serialNumber, validFrom } = await servingCertificate(first.endpoint);
        expect(serialNumber).not.toBe(shown.serialNumber);
        expect(world.steadyProcessesOf(root, wanted.id)).toEqual(processes);
        // A clock that is some minutes behind takes it as well.
        expect(clock.now() - Date.parse(validFrom)).toBeGreaterThanOrEqual(5 * 60_000 - 1000);

        await bindOwners(first);
        await write(as(first, first.platform), 'kept');
        const oldToken = await serviceAccountToken(as(first, first.platform));
        const secrets = '/api/v1/secrets';

        const rotation = { certificates: 1, authorities: 1, revoke: 0 };
        const second = await planes.run({ ...wanted, rotation });
        expect(second.endpoint).toBe(first.endpoint);
        expect(second.authorities).toMatchObject({ edition: 2, reason: 'Asked' });
        expect(new X509Certificate(second.owner.certificatePem).issuer).toBe('CN=tenantry-ca-2');
        // Who knows only the authority of before takes the server for the right one, and is let in, with a certificate and with a token.
        expect((await as(first, first.owner).request('GET', secrets)).status).toBe(200);
        expect(await statusWithToken(first, oldToken)).not.toBe(401);
        expect((await as(second, second.owner).request('GET', secrets)).status).toBe(200);
        const platform = as(second, second.platform);
        expect(await has(platform, 'kept')).toBe(true);
        const newToken = await serviceAccountToken(platform);
        await isUp(second);

        // Whoever was to revoke them died right after it was written down.
        await planes.close();
        const places = {
          state: join(root, wanted.id, 'authorities.json'),
          keys: join(root, wanted.id, 'pki'),
          authorities: world.authorities,
        };
        await (await PlaneAuthorities.open(places))!.advance({ ...rotation, revoke: 1 }, clock.now());
        planes = await world.open(root, clock);
        const third = await planes.run({ ...wanted, rotation: { ...rotation, revoke: 1 } });
        expect(third.authorities).toMatchObject({ edition: 2, formersUntil: undefined });
        expect((await as(third, first.owner).request('GET', secrets)).status).toBe(401);
        expect((await as(third, first.platform).request('GET', secrets)).status).toBe(401);
        await expect(as(first, first.owner).request('GET', secrets)).rejects.toThrow(/certificate|signature/i);
        expect(await statusWithToken(third, oldToken)).toBe(401);
        expect((await as(third, third.owner).request('GET', secrets)).status).toBe(200);
        expect(await statusWithToken(third, newToken)).not.toBe(401);
        expect(await has(as(third, third.platform), 'kept')).toBe(true);
        const { certificatePem: cert, keyPem: key } = third.platform;
        const credentials = certificateCredentials(() => Promise.resolve({ cert, key }));
        const endpoint = { url: new URL(third.endpoint) };
        const tenantClient = createClient(createHttpTransport({ endpoint, ca: () => Promise.resolve(third.authorityPem), credentials }));
        await forgetAuthorities(tenantClient, third);
        const { data } = await tenantClient.resource(ConfigMap, 'kube-system').get('extension-apiserver-authentication');
        await tenantClient.close();
        expect(hasOthers(data!['client-ca-file'], third.authorityPem)).toBe(false);
        expect(hasOthers(data!['requestheader-client-ca-file'], third.frontProxyAuthorityPem!)).toBe(false);
      },
    );

    it('one that is deleted leaves nothing', LONG, async () => {
      const before = everythingIn(root);
      const wanted = aCluster();
      await planes.run(wanted);
      await planes.backup(wanted.id, 'monday');
      const processes = world.processesOf(root, wanted.id);
      await planes.remove(wanted.id);
      expect(processes.filter(isAlive)).toEqual([]);
      expect(everythingIn(root).filter((path) => !before.includes(path) && path.includes(wanted.id))).toEqual([]);
    });

    it('one that is deleted while it is made leaves nothing', LONG, async () => {
      const wanted = aCluster();
      const running = planes.run(wanted).catch(() => {});
      await planes.remove(wanted.id);
      await running;
      expect(everythingIn(root).filter((path) => path.includes(wanted.id))).toEqual([]);
    });
  });
}

function serialOf({ certificatePem }: CertificatePair): string {
  return new X509Certificate(certificatePem).serialNumber;
}

function isAlive(pid: number): boolean {
  return processTable.isAlive({ pid, startTime: '', hostname: '' });
}

function everythingIn(root: string): string[] {
  return readdirSync(root, { recursive: true }).map(String);
}

function servingCertificate(endpoint: string): Promise<X509Certificate> {
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()!);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

async function serviceAccountToken(target: ApiTarget): Promise<string> {
  const path = '/api/v1/namespaces/default/serviceaccounts';
  await target.request('POST', path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } });
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  return (await target.request('POST', `${path}/robot/token`, body)).body.status.token;
}

function statusWithToken({ endpoint, authorityPem }: RunningControlPlane, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { ca: authorityPem, headers: { authorization: `Bearer ${token}` } };
    const sent = httpsRequest(`${endpoint}/api/v1/namespaces`, options, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.once('error', reject);
    sent.end();
  });
}

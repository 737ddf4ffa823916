import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { chooseContext, type Surroundings } from './cluster.ts';
import type { ClusterOptions } from './runs-api.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-cluster-'));
afterAll(() => rmSync(folder, { recursive: true }));

function kubeconfig(place: string, server: string, current = 'main'): string {
  const file = join(folder, place);
  mkdirSync(join(file, '..'), { recursive: true });
  const config = {
    'current-context': current,
    clusters: [
      { name: 'c', cluster: { server, 'certificate-authority-data': 'Q0E=' } },
      { name: 'other', cluster: { server: 'https://other' } },
    ],
    users: [
      { name: 'u', user: { 'client-certificate-data': 'QQ==', 'client-key-data': 'Qg==' } },
      { name: 'robot', user: { token: 'beep' } },
    ],
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

const named = kubeconfig('named', 'https://named');
const variable = kubeconfig('variable', 'https://variable');
kubeconfig('home/.kube/config', 'https://home');
kubeconfig('emptied/.kube/config', 'https://emptied', '');
kubeconfig('instance/kubeconfig', 'https://instance');

const surroundings = (env: Record<string, string> = {}, home = 'nobody'): Surroundings => ({
  env,
  home: join(folder, home),
  userAgent: 'test',
  dataDirectory: (data) => data ?? env.TENANTRY_DATA ?? join(folder, 'instance'),
});

describe('chooseContext', () => {
  it.each<[string, ClusterOptions, Surroundings, string]>([
    ['the file that is named', { kubeconfig: named }, surroundings({ KUBECONFIG: variable }, 'home'), 'https://named'],
    ['the instance that is named', { data: join(folder, 'instance') }, surroundings({ KUBECONFIG: variable }, 'home'), 'https://instance'],
    ['KUBECONFIG', {}, surroundings({ KUBECONFIG: variable, TENANTRY_DATA: join(folder, 'instance') }, 'home'), 'https://variable'],
    ['TENANTRY_DATA', {}, surroundings({ TENANTRY_DATA: join(folder, 'instance') }, 'home'), 'https://instance'],
    ['the file at home', {}, surroundings({}, 'home'), 'https://home'],
    ['the instance, when the file at home names no cluster', {}, surroundings({}, 'emptied'), 'https://instance'],
    ['the instance in its usual place', {}, surroundings(), 'https://instance'],
    ['the server that is named, over all', { server: 'https://flag' }, surroundings({}, 'home'), 'https://flag'],
  ])('takes %s', async (_name, options, around, server) => {
    expect((await chooseContext(options, around))?.cluster.server).toBe(server);
  });

  it('uses the cluster that the Pod is in when there is nothing else', async () => {
    const around = { ...surroundings({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }), dataDirectory: () => join(folder, 'nothing') };
    expect(await chooseContext({}, around)).toBeUndefined();
  });

  it.each<[string, ClusterOptions, string]>([
    ['nothing at all', {}, 'start one with `tenantry up`'],
    ['an instance that was never started', { data: join(folder, 'nothing') }, 'none was started there yet; run `tenantry up` first'],
    ['a context that is not there', { kubeconfig: named, context: 'x' }, 'Cannot find context "x": the kubeconfig has "main"'],
    ['a user that is not there', { kubeconfig: named, user: 'x' }, 'Cannot find user "x"'],
  ])('says what to do about %s', async (_name, options, message) => {
    const around = { ...surroundings(), dataDirectory: (data: string | undefined) => data ?? join(folder, 'nothing') };
    await expect(chooseContext(options, around)).rejects.toThrow(message);
  });

  it('a token stands alone, other flags go on top', async () => {
    const options = { kubeconfig: named, token: 't', as: 'eve', asGroups: ['g'], insecureSkipTlsVerify: true };
    const context = await chooseContext(options, surroundings());
    expect(context?.user).toMatchObject({ token: 't', as: 'eve', 'as-groups': ['g'] });
    expect(context?.cluster).toEqual({ server: 'https://named', 'insecure-skip-tls-verify': true });
    const other = await chooseContext({ kubeconfig: named, cluster: 'other', user: 'robot' }, surroundings());
    expect([other?.cluster.server, other?.user.token, other?.namespace]).toEqual(['https://other', 'beep', 'shop']);
  });
});

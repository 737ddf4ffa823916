import { describe, expect, it } from 'vitest';
import type { Runtime, RuntimeSpec } from '../../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import type { Json } from '../../../../../kube/object.ts';
import { roleBindingName } from './names.ts';
import { isolationOf, limitsRefusal, runtimeDeployment, type RuntimeSettings } from './runtime-deployment.ts';

function deploymentOf(spec: Partial<RuntimeSpec> = {}, container: Json = {}, settings: Partial<RuntimeSettings> = {}) {
  const runtime: Runtime = {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Runtime',
    metadata: { name: 'bash', namespace: 'ns', uid: 'u' },
    spec: { template: { spec: { containers: [{ name: 'runtime', image: 'example/bash:1', ...container }] } }, ...spec },
  };
  return runtimeDeployment(runtime, 2, { runtimedImage: 'example/runtimed:1', maintainerImage: 'example/maintainer:1', ...settings });
}

function containersOf(deployment: ReturnType<typeof deploymentOf>): [Json, Json] {
  return deployment.spec.template.spec.containers as [Json, Json];
}

const OURS = { image: 'tenantry.dev/runtime-bash' };

describe('runtimeDeployment', () => {
  it('is named, labelled and owned as the original does', () => {
    const deployment = deploymentOf({ capacity: { resources: { runs: 64, gpu: '1' } } });
    expect(deployment.metadata).toMatchObject({
      name: 'runtime-bash',
      namespace: 'ns',
      ownerReferences: [{ kind: 'Runtime', uid: 'u', controller: true }],
    });
    expect(deployment.spec.template.metadata).toEqual({
      labels: { runtime: 'bash', app: 'kruntimes-bash' },
      annotations: { 'kruntimes.io/capacity.runs': '64', 'kruntimes.io/capacity.gpu': '1' },
    });
  });

  it('fills in what the author left open, and nothing else', () => {
    const [plain] = containersOf(deploymentOf());
    expect(plain).toMatchObject({
      readinessProbe: { tcpSocket: { port: 9091 } },
      securityContext: { readOnlyRootFilesystem: true, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
      resources: { limits: { cpu: '2', memory: '2Gi' } },
      ports: [{ name: 'grpc', containerPort: 9091 }],
      volumeMounts: [{ mountPath: '/workspace' }, { mountPath: '/tmp' }],
    });
    const own = {
      securityContext: { runAsUser: 7 },
      resources: {},
      volumeMounts: [{ name: 'mine', mountPath: '/tmp' }],
      env: [{ name: 'POD_IP', value: 'x' }],
    };
    const [kept] = containersOf(deploymentOf({}, own));
    expect(kept.securityContext).toEqual({ runAsUser: 7 });
    expect(kept.resources).toEqual({});
    expect(kept.volumeMounts).toEqual([
      { name: 'mine', mountPath: '/tmp' },
      { name: 'workspace', mountPath: '/workspace' },
    ]);
    expect(kept.env.filter((variable: Json) => variable.name === 'POD_IP')).toEqual([{ name: 'POD_IP', value: 'x' }]);
  });

  it.each<[string, Partial<RuntimeSpec>, Json, string[], boolean]>([
    ['our server is told, and can make sandboxes', { isolation: 'process' }, OURS, ['--isolation', 'process'], true],
    [
      'and keeps interpreters with a network',
      { isolation: 'process', network: 'Pod' },
      OURS,
      ['--isolation', 'process', '--network'],
      true,
    ],
    ['shared needs no rights', { isolation: 'shared' }, OURS, ['--isolation', 'shared'], false],
    ['nothing said, nothing told', {}, OURS, [], false],
    ['a server of somebody else does not know the flag', { isolation: 'process' }, {}, [], false],
    [
      'another program in our image gets no rights',
      { isolation: 'process' },
      { ...OURS, command: ['sh'] },
      ['--isolation', 'process'],
      false,
    ],
  ])('isolation: %s', (_name, spec, container, args, privileged) => {
    const [runtime, runtimed] = containersOf(deploymentOf(spec, container));
    expect(runtime.args).toEqual(args);
    expect((runtime.securityContext.capabilities.add ?? []).includes('SYS_ADMIN')).toBe(privileged);
    expect(runtime.securityContext.capabilities.drop).toEqual(['ALL']);
    expect(runtimed.securityContext).toMatchObject({ runAsNonRoot: true, allowPrivilegeEscalation: false });
  });

  it('gives both programs minutes to begin, unless the author has said when the server is dead', () => {
    const starting = { periodSeconds: 1, failureThreshold: 600 };
    const [runtime, runtimed] = containersOf(deploymentOf({ port: 7000 }));
    expect(runtime.startupProbe).toEqual({ tcpSocket: { port: 7000 }, ...starting });
    expect(runtimed.startupProbe).toEqual({ httpGet: { path: '/healthz', port: 9094 }, ...starting });
    for (const each of [runtime, runtimed]) expect(each.livenessProbe).toMatchObject({ initialDelaySeconds: 5, periodSeconds: 10 });
    const own = { tcpSocket: { port: 7001 }, failureThreshold: 3 };
    expect(containersOf(deploymentOf({}, { livenessProbe: own }))[0].startupProbe).toBeUndefined();
    expect(containersOf(deploymentOf({}, { startupProbe: own }))[0].startupProbe).toEqual(own);
  });

  it('tells our server the limits of each Run', () => {
    const [runtime] = containersOf(deploymentOf({ isolation: 'process', limits: { memory: '64Mi', cpu: '1.5', pids: 40 } }, OURS));
    expect(runtime.args.slice(2)).toEqual(['--run-memory', String(64 << 20), '--run-cpu', '1500', '--run-processes', '40']);
  });

  it.each<[string, Partial<RuntimeSpec>, string, string | undefined]>([
    ['limits, for our server', { limits: { memory: '1Gi' } }, 'tenantry.dev/runtime-bash', undefined],
    ['none', {}, 'example/bash', undefined],
    ['limits, for one that does not know them', { limits: { pids: 3 } }, 'example/bash', 'this one is "example/bash"'],
  ])('limitsRefusal of %s', (_name, spec, image, expected) => {
    const runtime = { metadata: {}, spec: { template: { spec: { containers: [{ image }] } }, ...spec } } as unknown as Runtime;
    const refusal = limitsRefusal(runtime);
    if (expected === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toContain(expected);
  });

  it('tells runtimed where traces go', () => {
    const [runtime, runtimed] = containersOf(deploymentOf({}, OURS, { tracesUrl: 'http://c/v1/traces' }));
    expect(runtimed.env).toContainEqual({ name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', value: 'http://c/v1/traces' });
    expect(JSON.stringify(runtime.env)).not.toContain('OTEL');
    expect(JSON.stringify(deploymentOf())).not.toContain('OTEL');
  });

  it('needs no rights to make sandboxes on a node of a plain user', () => {
    const [runtime] = containersOf(deploymentOf({ isolation: 'process' }, OURS, { sandboxesNeedNoRights: true }));
    expect(runtime.args).toEqual(['--isolation', 'process']);
    expect(runtime.securityContext).toMatchObject({ runAsNonRoot: true, capabilities: { drop: ['ALL'] } });
  });

  it('a Runtime that comes with the engine gets the isolation of the machine, unless it says', () => {
    const settings = { builtInIsolation: { isolation: 'process' } } as const;
    const builtIn = (spec: object) => ({ metadata: { labels: { 'tenantry.dev/built-in': 'true' } }, spec }) as unknown as Runtime;
    expect(isolationOf(builtIn({}), settings)).toBe('process');
    expect(isolationOf(builtIn({}), {})).toBeUndefined();
    expect(isolationOf(builtIn({ isolation: 'shared' }), settings)).toBe('shared');
    expect(isolationOf({ metadata: {}, spec: {} } as unknown as Runtime, settings)).toBeUndefined();
  });

  it('gives the artifact store to runtimed alone', () => {
    const onVolume = deploymentOf({ artifactStore: { driver: 'filesystem', filesystem: { volumeClaimName: 'c' } } });
    const [runtime, runtimed] = containersOf(onVolume);
    expect(onVolume.spec.template.spec.volumes).toContainEqual({ name: 'artifact-store', persistentVolumeClaim: { claimName: 'c' } });
    expect(runtimed.args.join(' ')).toContain(
      '--artifact-store-driver filesystem --artifact-store-root /var/lib/kruntimes/artifacts --artifact-volume-claim c',
    );
    expect(runtimed.volumeMounts).toContainEqual({ name: 'artifact-store', mountPath: '/var/lib/kruntimes/artifacts' });
    expect(runtime.volumeMounts).not.toContainEqual(expect.objectContaining({ name: 'artifact-store' }));
    const inBucket = deploymentOf({ artifactStore: { driver: 's3', s3: { bucket: 'b', credentialsSecretName: 's' } } });
    const [other, its] = containersOf(inBucket);
    expect(its.envFrom).toEqual([{ secretRef: { name: 's' } }]);
    expect(its.args.join(' ')).toContain('--artifact-store-driver s3 --artifact-s3-bucket b --artifact-s3-credentials-secret-name s');
    expect(other.envFrom).toBeUndefined();
  });

  it('gives the token to runtimed alone', () => {
    const deployment = deploymentOf();
    const [runtime, runtimed] = containersOf(deployment);
    expect(deployment.spec.template.spec).toMatchObject({ automountServiceAccountToken: false });
    const mounts = (container: Json) => container.volumeMounts.map((mount: Json) => mount.name);
    expect(mounts(runtime)).not.toContain('runtimed-token');
    expect(mounts(runtimed)).toContain('runtimed-token');
    // Nor may Runs meet what runtimed keeps for a moment: keys of repositories, for example.
    expect(mounts(runtime).filter((name: string) => mounts(runtimed).includes(name))).toEqual(['workspace']);
  });

  it('lets Runs end before the Pod does', () => {
    const deployment = deploymentOf({ drainSeconds: 60 });
    expect(deployment.spec.template.spec).toMatchObject({ terminationGracePeriodSeconds: 90 });
    expect(containersOf(deployment)[0].lifecycle).toEqual({ preStop: { httpGet: { path: '/drained', port: 9094 } } });
    expect(deployment.spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  });
});

describe('roleBindingName', () => {
  it('cuts long names and tells them apart', () => {
    expect(roleBindingName('sa')).toBe('kruntimes-runtimed-sa');
    const long = roleBindingName('a'.repeat(80));
    expect(long).toHaveLength(63);
    expect(long).not.toBe(roleBindingName('a'.repeat(81)));
  });
});

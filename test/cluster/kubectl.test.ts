import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkbench, type Workbench } from './kubectl.ts';

let bench: Workbench;
const works = (line: string, stdin?: string) => bench.works(line, stdin);
const fails = (line: string, stdin?: string) => bench.fails(line, stdin);

beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench?.close());

const deployment = (image: string, extra = '') => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {set: a}}
spec:
  ${extra}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "${image}"}]}
`;

describe('kubectl create', () => {
  const NAMESPACE = '-n made';
  beforeAll(() => works('create namespace made'));

  test.each([
    ['configmap settings --from-literal=a=1', 'configmap/settings created'],
    ['secret generic login --from-literal=password=x', 'secret/login created'],
    ['secret docker-registry pull --docker-server=r --docker-username=u --docker-password=p', 'secret/pull created'],
    ['deployment web --image=nginx --replicas=2 --port=80', 'deployment.apps/web created'],
    ['job once --image=busybox -- true', 'job.batch/once created'],
    ["cronjob often --image=busybox --schedule='*/5 * * * *' -- true", 'cronjob.batch/often created'],
    ['job now --from=cronjob/often', 'job.batch/now created'],
    ['service clusterip web --tcp=80:8080', 'service/web created'],
    ['service nodeport door --tcp=80', 'service/door created'],
    ['service loadbalancer front --tcp=80', 'service/front created'],
    ['service externalname elsewhere --external-name=example.com', 'service/elsewhere created'],
    ['quota limits --hard=pods=10,requests.cpu=4', 'resourcequota/limits created'],
    ['role reader --verb=get,list --resource=pods,deployments.apps', 'role.rbac.authorization.k8s.io/reader created'],
    ['rolebinding readers --role=reader --user=anna', 'rolebinding.rbac.authorization.k8s.io/readers created'],
    ['clusterrole viewer --verb=get --resource=nodes', 'clusterrole.rbac.authorization.k8s.io/viewer created'],
    ['clusterrolebinding viewers --clusterrole=viewer --group=devs', 'clusterrolebinding.rbac.authorization.k8s.io/viewers created'],
    ['serviceaccount bot', 'serviceaccount/bot created'],
    ["ingress door --class=nginx --rule='a.example/*=web:80'", 'ingress.networking.k8s.io/door created'],
    ['poddisruptionbudget calm --selector=app=web --min-available=1', 'poddisruptionbudget.policy/calm created'],
    ['priorityclass high --value=1000', 'priorityclass.scheduling.k8s.io/high created'],
  ])('makes a %s', async (words, answer) => {
    expect((await works(`create ${NAMESPACE} ${words}`)).trim()).toBe(answer);
  });

  test('gives a token for a service account, and the token says who it is', async () => {
    const token = (await works(`create token bot ${NAMESPACE} --duration=10m`)).trim();
    await works(`config set-credentials bot --token=${token}`);
    expect(await works('--user=bot auth whoami')).toMatch(/Username +system:serviceaccount:made:bot/);
    expect(await fails(`--user=bot get pods ${NAMESPACE}`)).toContain(
      'pods is forbidden: User "system:serviceaccount:made:bot" cannot list resource "pods" in API group "" in the namespace "made"',
    );
  });

  test('refuses what is there already', async () => {
    expect(await fails(`create ${NAMESPACE} configmap settings`)).toBe(
      'error: failed to create configmap: configmaps "settings" already exists\n',
    );
  });

  test('shows everything that was made, in columns', async () => {
    const all = await works(`get all ${NAMESPACE}`);
    expect(all).toMatch(/^deployment\.apps\/web +0\/2 +2 +0 +/m);
    expect(all).toMatch(/^service\/door +NodePort +10\.0\.0\.\d+ +<none> +80:3\d{4}\/TCP/m);
    expect(all).toMatch(/^cronjob\.batch\/often +\*\/5 \* \* \* \* +<none> +False +0 +<none>/m);
    expect(await works(`get deployment web ${NAMESPACE} -o wide`)).toMatch(/CONTAINERS +IMAGES +SELECTOR\n.* nginx +nginx +app=web/);
    expect(await works(`get quota limits ${NAMESPACE}`)).toMatch(/pods: \d\/10/);
  });
});

describe('kubectl get', () => {
  const NAMESPACE = '-n seen';
  beforeAll(async () => {
    await works('create namespace seen');
    for (const [name, tier] of Object.entries({ b: 'web', a: 'web', c: 'data' })) {
      await works(`run ${name} ${NAMESPACE} --image=busybox:${name} --labels=tier=${tier}`);
    }
  });

  test.each([
    ['by label', '-l tier=web -o name', 'pod/a\npod/b\n'],
    ['by a set of labels', "-l 'tier in (data,other)' -o name", 'pod/c\n'],
    ['by field', '--field-selector=metadata.name=b -o name', 'pod/b\n'],
    ['by phase', '--field-selector=status.phase=Pending,metadata.name!=b -o name', 'pod/a\npod/c\n'],
    ['in pieces', '--chunk-size=1 -o name', 'pod/a\npod/b\npod/c\n'],
    ['as JSONPath', "-o jsonpath='{.items[*].spec.containers[0].image}'", 'busybox:a busybox:b busybox:c'],
    [
      'in columns of one’s own',
      '-o custom-columns=N:.metadata.name,T:.metadata.labels.tier',
      'N     T\na     web\nb     web\nc     data\n',
    ],
    ['sorted', '--sort-by=.spec.containers[0].image -o name', 'pod/a\npod/b\npod/c\n'],
  ])('finds Pods %s', async (_name, words, expected) => {
    expect(await works(`get pods ${NAMESPACE} ${words}`)).toBe(expected);
  });

  test('gives one object as YAML and as JSON', async () => {
    expect(await works(`get pod a ${NAMESPACE} -o yaml`)).toMatch(/^apiVersion: v1\nkind: Pod\nmetadata:\n/);
    expect(JSON.parse(await works(`get pod a ${NAMESPACE} -o json`))).toMatchObject({ kind: 'Pod', spec: { dnsPolicy: 'ClusterFirst' } });
  });

  test('watches until its object is as wanted', async () => {
    const watching = bench.kubectl(['wait', 'pod/a', '-n', 'seen', '--for=jsonpath={.metadata.labels.mood}=good', '--timeout=20s']);
    await works(`label pod a ${NAMESPACE} mood=good`);
    expect(await watching).toMatchObject({ code: 0, out: 'pod/a condition met\n' });
  });

  test.each([
    ['an object that is not there', 'get pod nosuch', 'Error from server (NotFound): pods "nosuch" not found\n'],
    ['a kind that is not there', 'get nosuch', 'error: the server doesn\'t have a resource type "nosuch"\n'],
    [
      'a field that cannot be selected by',
      'get pods --field-selector=spec.hostname=x',
      'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", field selector "spec.hostname=x": field label not supported: spec.hostname\n',
    ],
  ])('says so for %s', async (_name, line, complaint) => {
    expect(await fails(line)).toBe(complaint);
  });

  test('warns of a kind that is on its way out', async () => {
    const { err } = await bench.kubectl(['get', 'endpoints']);
    expect(err).toContain('Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice');
  });
});

describe('kubectl describe and explain', () => {
  test('tell about an object and what happened to it', async () => {
    await works('run talker --image=nginx');
    const uid = await works("get pod talker -o jsonpath='{.metadata.uid}'");
    await works(
      'create -f -',
      `{apiVersion: v1, kind: Event, metadata: {name: e1}, involvedObject: {apiVersion: v1, kind: Pod, name: talker, namespace: default, uid: ${uid}},
        reason: Scheduled, message: found a place, type: Normal, count: 3, source: {component: me},
        firstTimestamp: "2030-01-01T00:00:00Z", lastTimestamp: "2030-01-01T00:00:00Z"}`,
    );
    const text = await works('describe pod talker');
    expect(text).toMatch(/^QoS Class: +BestEffort$/m);
    expect(text).toMatch(/Normal +Scheduled .* me +found a place/);
    expect(await works('events --for pod/talker')).toMatch(/Normal +Scheduled +Pod\/talker +found a place/);
  });

  test.each(['namespace default', 'service kubernetes', 'clusterrole view', 'priorityclass system-node-critical', 'apiservice v1.apps'])(
    'tell about the %s of every cluster',
    async (object) => {
      const [, name] = object.split(' ');
      expect(await works(`describe ${object}`)).toMatch(new RegExp(`^Name: +${name}$`, 'm'));
    },
  );

  test('teach the fields of a kind', async () => {
    expect(await works('explain deployment.spec.replicas')).toMatch(/FIELD: replicas <integer>/);
    expect(await works('explain pod.spec --recursive')).toMatch(/ {2}containers\t<\[\]Container> -required-/);
    expect(await works('explain deployment.spec.strategy --output=plaintext-openapiv2')).toContain('rollingUpdate\t<Object>');
    expect(await fails('explain pod.nosuch')).toContain('field "nosuch" does not exist');
  });
});

describe('kubectl apply', () => {
  const NAMESPACE = '-n applied';
  beforeAll(() => works('create namespace applied'));

  test('creates, changes nothing twice, changes what differs, and shows the difference before', async () => {
    expect(await works(`apply ${NAMESPACE} -f -`, deployment('nginx:1'))).toBe('deployment.apps/web created\n');
    expect(await works(`apply ${NAMESPACE} -f -`, deployment('nginx:1'))).toBe('deployment.apps/web unchanged\n');
    const { code, out } = await bench.kubectl(['diff', '-n', 'applied', '-f', '-'], deployment('nginx:2'));
    expect(code).toBe(1);
    expect(out).toMatch(/^- +- image: nginx:1\n\+ +- image: nginx:2$/m);
    expect(await works(`apply ${NAMESPACE} -f -`, deployment('nginx:2'))).toBe('deployment.apps/web configured\n');
  });

  test('moves from client-side to server-side, and names who holds a field', async () => {
    expect(await works(`apply ${NAMESPACE} --server-side -f -`, deployment('nginx:2'))).toBe('deployment.apps/web serverside-applied\n');
    const complaint = await fails(`apply ${NAMESPACE} --server-side --field-manager=other -f -`, deployment('nginx:3'));
    expect(complaint).toContain('Apply failed with 1 conflict: conflict with "kubectl": .spec.template.spec.containers[name="c"].image');
    await works(`apply ${NAMESPACE} --server-side --field-manager=other --force-conflicts -f -`, deployment('nginx:3'));
    expect(await works(`get deployment web ${NAMESPACE} -o jsonpath='{.spec.template.spec.containers[0].image}'`)).toBe('nginx:3');
  });

  test('takes back a field that left the file', async () => {
    await works(`apply ${NAMESPACE} --server-side --field-manager=other -f -`, deployment('nginx:3', 'minReadySeconds: 5'));
    expect(await works(`get deployment web ${NAMESPACE} -o jsonpath='{.spec.minReadySeconds}'`)).toBe('5');
    await works(`apply ${NAMESPACE} --server-side --field-manager=other -f -`, deployment('nginx:3'));
    expect(await works(`get deployment web ${NAMESPACE} -o jsonpath='{.spec.minReadySeconds}'`)).toBe('');
  });

  test('prunes what is no longer in the set', async () => {
    const configMap = (name: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}, labels: {set: b}}}\n---\n`;
    await works(`apply ${NAMESPACE} -f -`, configMap('one') + configMap('two'));
    const out = await works(`apply ${NAMESPACE} --prune -l set=b --prune-allowlist=core/v1/ConfigMap -f -`, configMap('one'));
    expect(out).toBe('configmap/one unchanged\nconfigmap/two pruned\n');
  });

  test.each([
    ['a field that does not exist', 'dat: {}', 'unknown field "dat"'],
    [
      'a name that is not one',
      'metadata: {name: A_b}',
      'metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of',
    ],
    ['a kind that does not exist', 'kind: Nosuch', 'no matches for kind "Nosuch" in version "v1"\nensure CRDs are installed first'],
  ])('refuses %s', async (_name, change, complaint) => {
    const file = { metadata: 'metadata: {name: a}', kind: 'kind: ConfigMap', dat: '', apiVersion: 'apiVersion: v1' };
    const lines = { ...file, [change.split(':')[0]]: change };
    expect(await fails(`apply ${NAMESPACE} -f -`, Object.values(lines).join('\n'))).toContain(complaint);
  });
});

describe('kubectl changes', () => {
  const NAMESPACE = '-n changed';
  beforeAll(async () => {
    await works('create namespace changed');
    await works(`create deployment web ${NAMESPACE} --image=nginx --replicas=2`);
  });
  const path = (expression: string) => works(`get deployment web ${NAMESPACE} -o jsonpath='{${expression}}'`);

  test.each([
    [
      'strategic',
      '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:2"}]}}}}',
      '.spec.template.spec.containers[*].image',
      'nginx:2',
    ],
    ['merge', '{"metadata":{"labels":{"a":"b"}}}', '.metadata.labels.a', 'b'],
    ['json', '[{"op":"replace","path":"/spec/replicas","value":3}]', '.spec.replicas', '3'],
  ])('patch an object by a %s patch', async (type, patch, field, value) => {
    await works(`patch deployment web ${NAMESPACE} --type=${type} -p '${patch}'`);
    expect(await path(field)).toBe(value);
  });

  test('patch refuses a wrong type', async () => {
    const { code, err } = await bench.kubectl(['patch', 'deployment', 'web', '-n', 'changed', '-p', '{"spec":{"replicas":"x"}}']);
    expect(err).toBe('The request is invalid: patch: Invalid value: "map[spec:map[replicas:x]]": unrecognized type: int32\n');
    expect(code).toBe(1);
  });

  test('label, annotate, scale and set', async () => {
    expect(await works(`label deployment web ${NAMESPACE} team=red`)).toBe('deployment.apps/web labeled\n');
    expect(await fails(`label deployment web ${NAMESPACE} team=blue`)).toContain('already has a value (red), and --overwrite is false');
    expect(await works(`annotate deployment web ${NAMESPACE} note=x`)).toBe('deployment.apps/web annotated\n');
    expect(await works(`scale deployment web ${NAMESPACE} --replicas=5`)).toBe('deployment.apps/web scaled\n');
    expect(await fails(`scale deployment web ${NAMESPACE} --current-replicas=2 --replicas=1`)).toContain(
      'Expected replicas to be 2, was 5',
    );
    expect(await works(`set image deployment/web ${NAMESPACE} nginx=nginx:3`)).toBe('deployment.apps/web image updated\n');
    expect(await path('.spec.replicas')).toBe('5');
  });

  test('edit opens the editor, and again when the change is invalid', async () => {
    const editor = bench.file('editor.sh', '#!/bin/sh\ncp "$1" "$SEEN"\nsed -i "s/replicas: 5/replicas: many/" "$1"\n');
    const seen = join(bench.folder, 'seen');
    const wrong = await bench.kubectl(['edit', 'deployment', 'web', '-n', 'changed'], '', { KUBE_EDITOR: editor, SEEN: seen });
    expect(wrong.err).toContain('error: deployments.apps "web" is invalid');
    expect(readFileSync(seen, 'utf8')).toContain('unrecognized type: int32');
    const better = bench.file('better.sh', '#!/bin/sh\nsed -i "s/replicas: 5/replicas: 6/" "$1"\n');
    const right = await bench.kubectl(['edit', 'deployment', 'web', '-n', 'changed'], '', { KUBE_EDITOR: better });
    expect(right.out).toBe('deployment.apps/web edited\n');
    expect(await path('.spec.replicas')).toBe('6');
  });

  test('replace takes the whole object', async () => {
    await works(`create configmap whole ${NAMESPACE} --from-literal=a=1`);
    await works(`replace ${NAMESPACE} -f -`, '{apiVersion: v1, kind: ConfigMap, metadata: {name: whole}, data: {b: "2"}}');
    expect(await works(`get configmap whole ${NAMESPACE} -o jsonpath='{.data}'`)).toBe('{"b":"2"}');
  });

  test('taint and cordon mark a Node', async () => {
    await works('create -f -', '{apiVersion: v1, kind: Node, metadata: {name: n1}}');
    expect(await works('cordon n1')).toBe('node/n1 cordoned\n');
    expect(await works('taint node n1 a=b:NoSchedule')).toBe('node/n1 tainted\n');
    expect(await works('get node n1')).toMatch(/n1 +(Unknown|NotReady),SchedulingDisabled/);
    await works('uncordon n1');
    await works('delete node n1');
  });

  test('rollout says that nothing rolls out yet, and does not hang', async () => {
    expect(await fails(`rollout status deployment/web ${NAMESPACE} --timeout=1s`)).toContain('timed out waiting for the condition');
    expect(await works(`rollout history deployment/web ${NAMESPACE}`)).toContain('deployment.apps/web');
    expect(await works(`rollout restart deployment/web ${NAMESPACE}`)).toBe('deployment.apps/web restarted\n');
  });
});

describe('kubectl delete', () => {
  const owner = (uid: string) =>
    `{apiVersion: v1, kind: ConfigMap, metadata: {name: child, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: parent, uid: ${uid}, blockOwnerDeletion: true}]}}`;
  beforeAll(() => works('create namespace gone'));
  const family = async () => {
    await works('create configmap parent -n gone');
    await works('create -n gone -f -', owner(await works("get configmap parent -n gone -o jsonpath='{.metadata.uid}'")));
  };

  test('takes the dependants along, first of all when asked', async () => {
    await family();
    await works('delete configmap parent -n gone --cascade=foreground');
    expect(await fails('get configmap child -n gone')).toContain('not found');
  });

  test('leaves the dependants when asked', async () => {
    await family();
    await works('delete configmap parent -n gone --cascade=orphan');
    expect(await works("get configmap child -n gone -o jsonpath='{.metadata.ownerReferences}'")).toBe('');
  });

  test('removes many at once, and waits', async () => {
    for (const name of ['x', 'y']) await works(`create configmap ${name} -n gone`);
    await works('label configmap x y -n gone heap=1');
    expect(await works('delete configmap -l heap=1 -n gone')).toBe(
      'configmap "x" deleted from gone namespace\nconfigmap "y" deleted from gone namespace\n',
    );
    expect(await works('delete configmap nosuch -n gone --ignore-not-found')).toBe('');
    expect(await works('delete pod -n gone --all')).toContain('No resources found');
  });

  test('empties a namespace', async () => {
    await works('delete namespace gone --timeout=30s');
    expect(await fails('get namespace gone')).toBe('Error from server (NotFound): namespaces "gone" not found\n');
  });
});

describe('kubectl auth and certificate', () => {
  test('say what one may do', async () => {
    expect(await works('auth can-i create pods')).toBe('yes\n');
    const { code, out } = await bench.kubectl(['auth', 'can-i', 'create', 'pods', '--as=nobody']);
    expect([code, out]).toEqual([1, 'no\n']);
    expect(await works('auth can-i --list --as=nobody')).toContain('selfsubjectaccessreviews.authorization.k8s.io');
    expect(await works('auth whoami --as=anna --as-group=devs')).toMatch(/Groups +\[devs system:authenticated\]/);
  });

  test('reconcile adds what a role lacks', async () => {
    await works('create role keeper --verb=get --resource=pods');
    await works(
      'auth reconcile -f -',
      '{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: keeper, namespace: default}, rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}',
    );
    expect(await works("get role keeper -o jsonpath='{.rules[*].resources}'")).toBe('["pods"] ["secrets"]');
  });

  test('turn a request into a certificate that opens the door', async () => {
    const [key, request] = ['anna.key', 'anna.csr'].map((name) => join(bench.folder, name));
    execFileSync(
      'openssl',
      ['req', '-new', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-subj', '/O=team-a/CN=anna', '-out', request],
      { stdio: 'ignore' },
    );
    await works(
      'create -f -',
      `{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: anna}, spec: {
        request: ${readFileSync(request).toString('base64')}, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth], expirationSeconds: 86400}}`,
    );
    expect(await works('get csr anna')).toMatch(/Pending/);
    await works('certificate approve anna');
    await works("wait csr anna --for=jsonpath='{.status.certificate}' --timeout=20s");
    expect(await works('get csr anna')).toMatch(/Approved,Issued/);
    const certificate = bench.file(
      'anna.crt',
      Buffer.from(await works("get csr anna -o jsonpath='{.status.certificate}'"), 'base64').toString(),
    );
    await works(`config set-credentials anna --client-certificate=${certificate} --client-key=${key} --embed-certs`);
    expect(await works('--user=anna auth whoami')).toMatch(/Username +anna\nGroups +\[team-a system:authenticated\]/);
    expect(await fails('--user=anna get secrets')).toContain('secrets is forbidden: User "anna" cannot list resource "secrets"');
    await works('create rolebinding anna --clusterrole=view --group=team-a');
    await works('--user=anna get configmaps');
    expect(await fails('--user=anna get secrets')).toContain('forbidden');
  });

  test('deny a request for good', async () => {
    const request = readFileSync(join(bench.folder, 'anna.csr')).toString('base64');
    await works(
      'create -f -',
      `{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: berta}, spec: {request: ${request}, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth]}}`,
    );
    await works('certificate deny berta');
    expect(await works('get csr berta')).toMatch(/Denied/);
    expect(await fails('certificate approve berta')).toContain('already Denied');
  });
});

describe('kubectl asks the cluster', () => {
  test('what it is and what it has', async () => {
    expect(await works('cluster-info')).toContain(`Kubernetes control plane`);
    expect(await works('version')).toMatch(/Server Version: v1\.35/);
    expect((await works('api-versions')).split('\n')).toEqual(expect.arrayContaining(['v1', 'apps/v1', 'rbac.authorization.k8s.io/v1']));
    const resources = await works('api-resources');
    expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    expect(resources.split('\n').length).toBeGreaterThan(60);
    expect(await works('get --raw /readyz')).toBe('ok');
  });
});

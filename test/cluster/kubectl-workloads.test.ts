import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openWorkbench, type Workbench } from './kubectl.ts';

// kubectl against `tenantry up`, with Pods that really run: as processes, in the network of the machine.
let bench: Workbench;
const works = (line: string, stdin?: string) => bench.works(line, stdin);
const fails = (line: string, stdin?: string) => bench.fails(line, stdin);
const until = <T>(check: () => Promise<T>, timeout = 30_000): Promise<T> => vi.waitFor(check, { timeout, interval: 200 });
const NODE = 'bench';

beforeAll(async () => {
  bench = await openWorkbench(['--node', 'process', '--node-network', 'shared', '--node-name', NODE]);
});
afterAll(() => bench?.close());

const IMAGE = '--image=tenantry.dev/tools';
/** Ends at once when it is told to. */
const FOREVER = "-- sh -c 'trap exit TERM; while :; do sleep 0.1; done'";

/** In a namespace of its own: kubectl's answers there, and a Deployment that is rolled out. */
function inNamespace(namespace: string) {
  const at = (line: string) => `-n ${namespace} ${line}`;
  return {
    works: (line: string, stdin?: string) => works(at(line), stdin),
    fails: (line: string, stdin?: string) => fails(at(line), stdin),
    async deploy(name: string, replicas: number): Promise<void> {
      await works(at(`create deployment ${name} ${IMAGE} --replicas=${replicas} ${FOREVER}`));
      await works(at(`rollout status deployment/${name} --timeout=60s`));
    },
    lines: async (line: string): Promise<string[]> => (await works(at(line))).trim().split('\n').filter(Boolean),
    value: (what: string, path: string): Promise<string> => works(at(`get ${what} -o jsonpath={${path}}`)),
  };
}

describe('kubectl rollout', () => {
  const ns = inNamespace('rollout');
  beforeAll(async () => {
    await works('create namespace rollout');
    await ns.deploy('web', 2);
  });

  test('status tells when it is done', async () => {
    expect(await ns.works('rollout status deployment/web')).toBe('deployment "web" successfully rolled out\n');
  });

  test('history has a line for each change, and tells what it was', async () => {
    await ns.works('annotate deployment/web kubernetes.io/change-cause=first');
    await ns.works('set env deployment/web COLOR=blue');
    await ns.works('annotate deployment/web kubernetes.io/change-cause=painted --overwrite');
    await ns.works('rollout status deployment/web --timeout=60s');
    await until(async () => {
      const history = await ns.works('rollout history deployment/web');
      expect(history).toMatch(/1 +first\n2 +painted/);
    });
    expect(await ns.works('rollout history deployment/web --revision=2')).toMatch(/COLOR:\s+blue/);
  });

  test('an image that does not exist stops it, and undo brings it back', async () => {
    await ns.works('set image deployment/web tools=tenantry.dev/nothing');
    expect(await ns.fails('rollout status deployment/web --timeout=3s')).toContain('timed out waiting for the condition');
    await until(async () => expect(await ns.works('get pods')).toMatch(/ErrImagePull|ImagePullBackOff/));
    expect(await ns.works('rollout undo deployment/web')).toBe('deployment.apps/web rolled back\n');
    expect(await ns.works('rollout status deployment/web --timeout=60s')).toContain('successfully rolled out');
    expect(await ns.value('deployment web', '.spec.template.spec.containers[0].env[0].value')).toBe('blue');
  });

  test('undo goes back to any revision', async () => {
    await ns.works('rollout undo deployment/web --to-revision=1');
    expect(await ns.value('deployment web', '.spec.template.spec.containers[0].env')).toBe('');
    expect(await ns.fails('rollout undo deployment/web --to-revision=99')).toContain('unable to find specified revision 99 in history');
    await ns.works('rollout status deployment/web --timeout=60s');
  });

  test('while it is paused changes wait for resume', async () => {
    const sets = async () => (await ns.lines('get replicasets -o name')).length;
    const before = await sets();
    expect(await ns.works('rollout pause deployment/web')).toBe('deployment.apps/web paused\n');
    await ns.works('set env deployment/web COLOR=green');
    expect(await ns.fails('rollout pause deployment/web')).toContain('deployments.apps "web" is already paused');
    expect(await ns.fails('rollout restart deployment/web')).toContain("can't restart paused deployment");
    await until(async () =>
      expect(await ns.value('deployment web', '.status.conditions[?(@.type=="Progressing")].reason')).toBe('DeploymentPaused'),
    );
    expect(await sets()).toBe(before);
    expect(await ns.works('rollout resume deployment/web')).toBe('deployment.apps/web resumed\n');
    expect(await ns.works('rollout status deployment/web --timeout=60s')).toContain('successfully rolled out');
    expect(await sets()).toBe(before + 1);
  });

  test('restart replaces every Pod', async () => {
    const pods = () => ns.lines('get pods -o name --field-selector=status.phase=Running');
    const before = await pods();
    expect(await ns.works('rollout restart deployment/web')).toBe('deployment.apps/web restarted\n');
    expect(await ns.works('rollout status deployment/web --timeout=60s')).toContain('successfully rolled out');
    await until(async () => expect((await pods()).filter((pod) => before.includes(pod))).toEqual([]));
  });

  test.each([
    ['statefulset', 'apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {serviceName: db, replicas: 2, '],
    ['daemonset', 'apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: db}\nspec: {'],
  ])('a %s is rolled out, restarted and undone', async (kind, start) => {
    const command = `["sh", "-c", "trap exit TERM; while :; do sleep 0.1; done"]`;
    const template = `{metadata: {labels: {app: ${kind}}}, spec: {containers: [{name: c, image: tenantry.dev/tools, command: ${command}}]}}`;
    await ns.works('apply -f -', `${start}selector: {matchLabels: {app: ${kind}}}, template: ${template}}`);
    expect(await ns.works(`rollout status ${kind}/db --timeout=60s`)).toMatch(/complete|successfully rolled out/);
    await ns.works(`rollout restart ${kind}/db`);
    expect(await ns.works(`rollout status ${kind}/db --timeout=60s`)).toMatch(/complete|successfully rolled out/);
    expect(await ns.lines(`rollout history ${kind}/db`)).toHaveLength(4);
    expect(await ns.works(`rollout undo ${kind}/db`)).toContain('rolled back');
    expect(await ns.works(`rollout status ${kind}/db --timeout=60s`)).toMatch(/complete|successfully rolled out/);
  });
});

describe('kubectl scale and wait', () => {
  const ns = inNamespace('sizes');
  beforeAll(async () => {
    await works('create namespace sizes');
    await ns.deploy('web', 1);
  });

  test('scale sets the size, if it is the one that was expected', async () => {
    expect(await ns.works('scale deployment/web --replicas=3')).toBe('deployment.apps/web scaled\n');
    await ns.works('rollout status deployment/web --timeout=60s');
    expect(await ns.lines('get pods -o name')).toHaveLength(3);
    expect(await ns.fails('scale deployment/web --current-replicas=5 --replicas=1')).toContain('Expected replicas to be 5, was 3');
    await ns.works('scale deployment/web --current-replicas=3 --replicas=1');
    await until(async () => expect(await ns.lines('get pods -o name')).toHaveLength(1));
  });

  test('wait ends with the condition, or with the time', async () => {
    expect(await ns.works('wait --for=condition=Available deployment/web --timeout=30s')).toBe('deployment.apps/web condition met\n');
    expect(await ns.fails('wait --for=condition=Stuck deployment/web --timeout=1s')).toContain(
      'timed out waiting for the condition on deployments/web',
    );
    await ns.works("wait --for=jsonpath='{.status.readyReplicas}'=1 deployment/web --timeout=30s");
    await ns.works(`run slow ${IMAGE} --command -- sh -c 'trap "sleep 2; exit" TERM; while :; do sleep 0.1; done'`);
    await ns.works('wait --for=condition=Ready pod/slow --timeout=30s');
    await ns.works('delete pod slow --wait=false');
    expect(await ns.works('wait --for=delete pod/slow --timeout=30s')).toBe('pod/slow condition met\n');
  });

  test('a Job is waited for', async () => {
    await ns.works(`create job once ${IMAGE} -- true`);
    await ns.works(`create job never ${IMAGE} -- false`);
    expect(await ns.works('wait --for=condition=Complete job/once --timeout=30s')).toBe('job.batch/once condition met\n');
    expect(await ns.value('job once', '.status.succeeded')).toBe('1');
    await until(async () => expect(Number(await ns.value('job never', '.status.failed'))).toBeGreaterThan(0));
  });

  test('delete waits until everything is gone, Pods too', async () => {
    expect(await ns.works('delete deployment web --cascade=foreground')).toContain('deleted');
    expect(await ns.lines('get pods -o name -l app=web')).toEqual([]);
    expect(await ns.fails('get deployment web')).toContain('Error from server (NotFound): deployments.apps "web" not found');
  });
});

describe('kubectl run, expose, logs', () => {
  const ns = inNamespace('single');
  beforeAll(() => works('create namespace single'));

  test('run starts one Pod, and its words are its log', async () => {
    expect(await ns.works(`run hi ${IMAGE} --restart=Never -- echo hello there`)).toBe('pod/hi created\n');
    await ns.works("wait --for=jsonpath='{.status.phase}'=Succeeded pod/hi --timeout=30s");
    expect(await ns.works('logs hi')).toBe('hello there\n');
    expect(await ns.works('delete pod hi')).toContain('pod "hi" deleted');
  });

  test('run -i talks to the Pod, --rm removes it', async () => {
    const said = await ns.works(`run talk ${IMAGE} --restart=Never -i --rm --quiet -- sh -c 'read line; echo got $line'`, 'words\n');
    expect(said).toContain('got words');
    expect(await ns.fails('get pod talk')).toContain('NotFound');
  });

  test('exec runs a command beside it', async () => {
    await ns.works(`run box ${IMAGE} --env=COLOR=red ${FOREVER.replace('-- ', '--command -- ')}`);
    await ns.works('wait --for=condition=Ready pod/box --timeout=30s');
    expect(await ns.works("exec box -- sh -c 'echo $COLOR'")).toBe('red\n');
    const { code } = await bench.kubectl(['-n', 'single', 'exec', 'box', '--', 'sh', '-c', 'exit 7']);
    expect(code).toBe(7);
  });

  test('expose gives it a Service with the Pod behind it', async () => {
    expect(await ns.works('expose pod box --port=80 --target-port=8080')).toBe('service/box exposed\n');
    const address = await ns.value('pod box', '.status.podIP');
    await until(async () =>
      expect(
        await ns.works(
          'get endpointslices -l kubernetes.io/service-name=box -o jsonpath={.items[0].endpoints[0].addresses[0]}:{.items[0].ports[0].port}',
        ),
      ).toBe(`${address}:8080`),
    );
  });
});

describe('kubectl top and autoscale', () => {
  const ns = inNamespace('usage');
  const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: busy}
spec:
  selector: {matchLabels: {app: busy}}
  template:
    metadata: {labels: {app: busy}}
    spec:
      containers:
        - name: c
          image: tenantry.dev/tools
          command: [sh, -c, 'trap exit TERM; while :; do sleep 0.05; done']
          resources: {requests: {cpu: 1m, memory: 4Mi}}
`;
  beforeAll(async () => {
    await works('create namespace usage');
    await ns.works('apply -f -', manifest);
    await ns.works('rollout status deployment/busy --timeout=60s');
  });

  test('top shows what nodes and Pods use', async () => {
    await until(async () => expect(await works('top nodes')).toMatch(new RegExp(`${NODE} +\\d+m +\\d+% +\\d+Mi +\\d+%`)));
    await until(async () => expect(await ns.works('top pods')).toMatch(/NAME +CPU\(cores\) +MEMORY\(bytes\) *\nbusy-\S+ +\d+m +\d+Mi/));
    expect(await ns.works('top pods --containers -l app=busy')).toMatch(
      /POD +NAME +CPU\(cores\) +MEMORY\(bytes\) *\nbusy-\S+ +c +\d+m +\d+Mi/,
    );
    expect(await works('top pods -A --sort-by=cpu --sum')).toMatch(/usage +busy-/);
    expect(await ns.fails('top pod nobody')).toContain('Error from server (NotFound): pods "nobody" not found');
    expect(await ns.works('get pods.metrics.k8s.io')).toMatch(/NAME +CPU +MEMORY +WINDOW\nbusy-\S+ +\d+\w* +\d+\w* +[0-9.hms]+/);
  });

  test('autoscale makes it grow when it uses more than it should', async () => {
    expect(await ns.works('autoscale deployment busy --min=1 --max=2 --cpu=50%')).toBe(
      'horizontalpodautoscaler.autoscaling/busy autoscaled\n',
    );
    // Two looks fifteen seconds apart, after the Pod has been ready for as long as CPU is measured.
    await until(async () => expect(await ns.value('deployment busy', '.spec.replicas')).toBe('2'), 58_000);
    expect(await ns.works('get hpa busy')).toMatch(/busy +Deployment\/busy +cpu: \d+%\/50% +1 +2 +[12]/);
    expect(await ns.works('describe hpa busy')).toMatch(
      /SuccessfulRescale +\S+ +horizontal-pod-autoscaler +New size: 2; reason: cpu resource utilization/,
    );
  });
});

describe('kubectl cordon, drain, uncordon', () => {
  const ns = inNamespace('drained');
  beforeAll(async () => {
    await works('create namespace drained');
    await ns.deploy('web', 2);
    await ns.works('create poddisruptionbudget web --selector=app=web --min-available=2');
  });
  afterAll(() => works(`uncordon ${NODE}`));

  const drain = `drain ${NODE} --pod-selector=app=web --ignore-daemonsets`;

  test('cordon keeps new Pods away, uncordon lets them in', async () => {
    expect(await works(`cordon ${NODE}`)).toBe(`node/${NODE} cordoned\n`);
    expect(await works('get nodes')).toMatch(new RegExp(`${NODE} +Ready,SchedulingDisabled`));
    await ns.works(`run late ${IMAGE} ${FOREVER.replace('-- ', '--command -- ')}`);
    await until(async () => expect(await ns.works('describe pod late')).toContain('0/1 nodes are available: 1 node(s) were unschedulable'));
    expect(await works(`uncordon ${NODE}`)).toBe(`node/${NODE} uncordoned\n`);
    await ns.works('wait --for=condition=Ready pod/late --timeout=30s');
  });

  test('drain refuses Pods that nobody would make again', async () => {
    const refusal = await fails(`drain ${NODE} --pod-selector=run=late`);
    expect(refusal).toContain('cannot delete Pods that declare no controller (use --force to override): drained/late');
    await works(`drain ${NODE} --pod-selector=run=late --force`);
    expect(await ns.fails('get pod late')).toContain('NotFound');
  });

  test('drain waits for the budget, and goes on when it allows', async () => {
    const waiting = await fails(`${drain} --timeout=3s`);
    expect(waiting).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    expect(await ns.lines('get pods -o name -l app=web --field-selector=status.phase=Running')).toHaveLength(2);
    await ns.works('delete poddisruptionbudget web');
    expect(await works(drain)).toMatch(new RegExp(`pod/web-\\S+ evicted[\\s\\S]*node/${NODE} drained`));
    await until(async () => expect(await ns.lines('get pods -o name -l app=web --field-selector=status.phase=Pending')).toHaveLength(2));
    await works(`uncordon ${NODE}`);
    await ns.works('rollout status deployment/web --timeout=60s');
  });
});

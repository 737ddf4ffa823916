import type { NodeUsage, UsageSample } from './pod-access.ts';

/** The kubelet's `/stats/summary`, as far as it is known here. */
export function summaryOf(nodeName: string, usage: NodeUsage): object {
  return {
    node: { nodeName, ...statsOf(usage.node) },
    pods: usage.pods.map(({ namespace, name, uid, containers }) => ({
      podRef: { name, namespace, ...(uid !== undefined && { uid }) },
      containers: containers.map((container) => ({ name: container.name, ...statsOf(container) })),
      ...(containers.length > 0 && statsOf(sumOf(containers))),
    })),
  };
}

function statsOf({ at, windowSeconds, cpuNanocores, cpuNanoseconds, memoryBytes, startedAt }: UsageSample): object {
  const time = at.toISOString();
  return {
    ...(startedAt !== undefined && { startTime: startedAt.toISOString() }),
    cpu: {
      time,
      usageNanoCores: Math.round(cpuNanocores),
      ...(cpuNanoseconds !== undefined && { usageCoreNanoSeconds: cpuNanoseconds }),
      // Not a kubelet's word: it measures every ten seconds, we between two questions.
      windowSeconds,
    },
    memory: { time, usageBytes: memoryBytes, workingSetBytes: memoryBytes },
  };
}

function sumOf(samples: UsageSample[]): UsageSample {
  const sum: UsageSample = { ...samples[0], startedAt: undefined };
  for (const sample of samples.slice(1)) {
    sum.cpuNanocores += sample.cpuNanocores;
    sum.memoryBytes += sample.memoryBytes;
    if (sum.cpuNanoseconds !== undefined && sample.cpuNanoseconds !== undefined) sum.cpuNanoseconds += sample.cpuNanoseconds;
    else sum.cpuNanoseconds = undefined;
  }
  return sum;
}

/** The kubelet's `/metrics/resource`: what metrics collectors read. */
export function resourceMetrics(usage: NodeUsage): string {
  const lines: string[] = [];
  const family = (name: string, type: 'counter' | 'gauge', help: string, samples: (string | undefined)[]): void => {
    const present = samples.filter((sample) => sample !== undefined);
    if (present.length > 0)
      lines.push(`# HELP ${name} [STABLE] ${help}`, `# TYPE ${name} ${type}`, ...present.map((sample) => `${name}${sample}`));
  };
  const cpu = (sample: UsageSample, labels = ''): string | undefined =>
    sample.cpuNanoseconds === undefined ? undefined : `${labels} ${sample.cpuNanoseconds / 1e9} ${sample.at.getTime()}`;
  const memory = (sample: UsageSample, labels = ''): string => `${labels} ${sample.memoryBytes} ${sample.at.getTime()}`;
  const containers = usage.pods.flatMap(({ namespace, name, containers: own }) =>
    own.map((sample) => ({ sample, labels: `{container="${sample.name}",namespace="${namespace}",pod="${name}"}` })),
  );
  const pods = usage.pods
    .filter(({ containers: own }) => own.length > 0)
    .map(({ namespace, name, containers: own }) => ({ sample: sumOf(own), labels: `{namespace="${namespace}",pod="${name}"}` }));
  family(
    'container_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the container in core-seconds',
    containers.map(({ sample, labels }) => cpu(sample, labels)),
  );
  family(
    'container_memory_working_set_bytes',
    'gauge',
    'Current working set of the container in bytes',
    containers.map(({ sample, labels }) => memory(sample, labels)),
  );
  family(
    'container_start_time_seconds',
    'gauge',
    'Start time of the container since unix epoch in seconds',
    containers.map(({ sample, labels }) => sample.startedAt && `${labels} ${sample.startedAt.getTime() / 1000}`),
  );
  family('node_cpu_usage_seconds_total', 'counter', 'Cumulative cpu time consumed by the node in core-seconds', [cpu(usage.node)]);
  family('node_memory_working_set_bytes', 'gauge', 'Current working set of the node in bytes', [memory(usage.node)]);
  family(
    'pod_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the pod in core-seconds',
    pods.map(({ sample, labels }) => cpu(sample, labels)),
  );
  family(
    'pod_memory_working_set_bytes',
    'gauge',
    'Current working set of the pod in bytes',
    pods.map(({ sample, labels }) => memory(sample, labels)),
  );
  return `${lines.join('\n')}\n`;
}

import { isPathSegmentName } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel } from '../formats.ts';
import type { Path } from '../path.ts';
import { isPositive } from '../quantities.ts';
import { checkContainerResourceName } from '../resource-names.ts';
import { checkReference, type ReferenceOptions } from './horizontal-pod-autoscaler.ts';

const TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
type SourceCheck = (out: Findings, source: Json, at: Path, options: ReferenceOptions) => void;

const SOURCES: [field: string, check: SourceCheck][] = [
  ['object', checkObject],
  ['external', checkExternal],
  ['pods', checkPods],
  ['resource', checkResource],
  ['containerResource', checkContainerResource],
];

export function checkMetrics(out: Findings, metrics: Json[], minReplicas: number | undefined, options: ReferenceOptions, at: Path): void {
  metrics.forEach((metric, i) => checkMetric(out, metric, options, at.index(i)));
  if (minReplicas === 0 && !metrics.some((m) => m.type === 'Object' || m.type === 'External')) {
    out.forbidden(at, 'must specify at least one Object or External metric to support scaling to zero replicas');
  }
}

function checkMetric(out: Findings, metric: Json, options: ReferenceOptions, at: Path): void {
  const type: string = metric.type ?? '';
  if (type === '') out.required(at.child('type'), 'must specify a metric source type');
  const known = TYPES.includes(type);
  if (!known) out.notSupported(at.child('type'), type, TYPES);
  const present = SOURCES.filter(([field]) => metric[field] !== undefined);
  if (present.length > 0) present[0][1](out, metric[present[0][0]], at.child(present[0][0]), options);
  const expected = known ? type[0].toLowerCase() + type.slice(1) : '';
  if (!known) out.notSupported(at.child('type'), type, TYPES);
  else if (metric[expected] === undefined) out.required(at.child(expected), 'must populate information for the given metric source');
  if (present.length === 1) return;
  for (const [field] of present) {
    if (field !== expected) out.forbidden(at.child(field), 'must populate the given metric source only');
  }
}

function checkObject(out: Findings, source: Json, at: Path, options: ReferenceOptions): void {
  checkReference(out, source.describedObject ?? {}, options, at.child('describedObject'));
  checkIdentifier(out, source.metric ?? {}, at.child('metric'));
  const { value, averageValue } = checkTarget(out, source.target ?? {}, at.child('target'));
  if (value === undefined && averageValue === undefined) {
    out.required(at.child('target', 'averageValue'), 'must set either a target value or averageValue');
  }
}

function checkExternal(out: Findings, source: Json, at: Path): void {
  checkIdentifier(out, source.metric ?? {}, at.child('metric'));
  const { value, averageValue } = checkTarget(out, source.target ?? {}, at.child('target'));
  if (value === undefined && averageValue === undefined) {
    out.required(at.child('target', 'averageValue'), 'must set either a target value for metric or a per-pod target');
  }
  if (value !== undefined && averageValue !== undefined) {
    out.forbidden(at.child('target', 'value'), 'may not set both a target value for metric and a per-pod target');
  }
}

function checkPods(out: Findings, source: Json, at: Path): void {
  checkIdentifier(out, source.metric ?? {}, at.child('metric'));
  const { averageValue } = checkTarget(out, source.target ?? {}, at.child('target'));
  if (averageValue === undefined) out.required(at.child('target', 'averageValue'), 'must specify a positive target averageValue');
}

function checkContainerResource(out: Findings, source: Json, at: Path): void {
  if (!source.name) out.required(at.child('name'), 'must specify a resource name');
  else checkContainerResourceName(out, source.name, at.child('name'));
  if (!source.container) out.required(at.child('container'), 'must specify a container');
  else checkDnsLabel(out, source.container, at.child('container'));
  checkUtilization(out, source, at);
}

function checkResource(out: Findings, source: Json, at: Path): void {
  if (!source.name) out.required(at.child('name'), 'must specify a resource name');
  checkUtilization(out, source, at);
}

function checkUtilization(out: Findings, source: Json, at: Path): void {
  const { averageUtilization, averageValue } = checkTarget(out, source.target ?? {}, at.child('target'));
  if (averageUtilization === undefined && averageValue === undefined) {
    out.required(at.child('target', 'averageUtilization'), 'must set either a target raw value or a target utilization');
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    out.forbidden(at.child('target', 'averageValue'), 'may not set both a target raw value and a target utilization');
  }
}

function checkTarget(out: Findings, target: Json, at: Path): Json {
  const { type = '', value, averageValue, averageUtilization } = target;
  if (type === '') out.required(at.child('type'), 'must specify a metric target type');
  if (type !== 'Utilization' && type !== 'Value' && type !== 'AverageValue') {
    out.invalid(at.child('type'), type, 'must be either Utilization, Value, or AverageValue');
  }
  if (value !== undefined && !isPositive(value)) out.invalid(at.child('value'), value, 'must be positive');
  if (averageValue !== undefined && !isPositive(averageValue)) out.invalid(at.child('averageValue'), averageValue, 'must be positive');
  if (averageUtilization < 1) out.invalid(at.child('averageUtilization'), averageUtilization, 'must be greater than 0');
  return target;
}

function checkIdentifier(out: Findings, { name }: Json, at: Path): void {
  if (!name) out.required(at.child('name'), 'must specify a metric name');
  else out.invalidEach(at.child('name'), name, isPathSegmentName(name));
}

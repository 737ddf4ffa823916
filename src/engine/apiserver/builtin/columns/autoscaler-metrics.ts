import type { Json } from '../../../../kube/object.ts';

const SHOWN = 2;
const UNKNOWN = '<unknown>';

/** The TARGETS column of autoscalers: current and wanted value of the first metrics. Takes the form of autoscaling/v2. */
export function formatMetrics(specs: Json[] | undefined, statuses: Json[] | undefined): string {
  if (!specs?.length) return '<none>';
  const texts = specs.map((spec, index) => formatMetric(spec, statuses?.[index]));
  const shown = texts.slice(0, SHOWN).join(', ');
  return texts.length > SHOWN ? `${shown} + ${texts.length - SHOWN} more...` : shown;
}

function formatMetric(spec: Json, status: Json): string {
  switch (spec.type) {
    case 'External':
      return formatValue(spec.external.target, status?.external?.current);
    case 'Object':
      return formatValue(spec.object.target, status?.object?.current);
    case 'Pods':
      return `${status?.pods?.current.averageValue ?? UNKNOWN}/${spec.pods.target.averageValue}`;
    case 'Resource':
      return formatResource(spec.resource, status?.resource?.current);
    case 'ContainerResource':
      return formatResource(spec.containerResource, status?.containerResource?.current);
    default:
      return '<unknown type>';
  }
}

function formatValue(target: Json, current: Json): string {
  if (target.averageValue !== undefined) return `${current?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`;
  return `${current?.value ?? UNKNOWN}/${target.value}`;
}

function formatResource({ name, target }: Json, current: Json): string {
  if (target.averageValue !== undefined) return `${name}: ${current?.averageValue ?? UNKNOWN}/${target.averageValue}`;
  const used = current?.averageUtilization === undefined ? UNKNOWN : `${current.averageUtilization}%`;
  return `${name}: ${used}/${target.averageUtilization === undefined ? '<auto>' : `${target.averageUtilization}%`}`;
}

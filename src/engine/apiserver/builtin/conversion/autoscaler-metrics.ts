import type { Json } from '../../../../kube/object.ts';

/** Metrics of autoscalers in their first form, which autoscaling/v1 keeps in annotations, and in that of autoscaling/v2. */

type Convert = (source: Json) => Json;

function defined(object: Record<string, Json>): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function identifier(name: string, selector: Json): Json {
  return defined({ name, selector });
}

function resourceTarget(source: Json): Json {
  const type = source.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization';
  return defined({ type, averageValue: source.targetAverageValue, averageUtilization: source.targetAverageUtilization });
}

const SPECS_TO_V2: Record<string, Convert> = {
  object: (source) => ({
    describedObject: source.target,
    target: defined({
      type: source.averageValue === undefined ? 'Value' : 'AverageValue',
      value: source.targetValue,
      averageValue: source.averageValue,
    }),
    metric: identifier(source.metricName, source.selector),
  }),
  pods: (source) => ({
    metric: identifier(source.metricName, source.selector),
    target: { type: 'AverageValue', averageValue: source.targetAverageValue },
  }),
  resource: (source) => ({ name: source.name, target: resourceTarget(source) }),
  containerResource: (source) => ({ name: source.name, container: source.container, target: resourceTarget(source) }),
  external: (source) => ({
    metric: identifier(source.metricName, source.metricSelector),
    target: defined({
      type: source.targetValue === undefined ? 'AverageValue' : 'Value',
      value: source.targetValue,
      averageValue: source.targetAverageValue,
    }),
  }),
};

const SPECS_FROM_V2: Record<string, Convert> = {
  object: ({ describedObject, metric, target }) =>
    defined({
      target: describedObject,
      metricName: metric.name,
      targetValue: target.value ?? '0',
      selector: metric.selector,
      averageValue: target.averageValue,
    }),
  pods: ({ metric, target }) =>
    defined({ metricName: metric.name, targetAverageValue: target.averageValue ?? '0', selector: metric.selector }),
  resource: ({ name, target }) =>
    defined({ name, targetAverageUtilization: target.averageUtilization, targetAverageValue: target.averageValue }),
  containerResource: ({ name, container, target }) =>
    defined({ name, targetAverageUtilization: target.averageUtilization, targetAverageValue: target.averageValue, container }),
  external: ({ metric, target }) =>
    defined({
      metricName: metric.name,
      metricSelector: metric.selector,
      targetValue: target.value,
      targetAverageValue: target.averageValue,
    }),
};

const STATUSES_TO_V2: Record<string, Convert> = {
  object: (source) => ({
    describedObject: source.target,
    current: defined({ value: source.currentValue, averageValue: source.averageValue }),
    metric: identifier(source.metricName, source.selector),
  }),
  pods: (source) => ({ metric: identifier(source.metricName, source.selector), current: { averageValue: source.currentAverageValue } }),
  resource: (source) => ({ name: source.name, current: currentResource(source) }),
  containerResource: (source) => ({ name: source.name, container: source.container, current: currentResource(source) }),
  external: (source) => ({
    metric: identifier(source.metricName, source.metricSelector),
    current: defined({ value: source.currentValue, averageValue: source.currentAverageValue }),
  }),
};

function currentResource(source: Json): Json {
  return defined({ averageValue: source.currentAverageValue, averageUtilization: source.currentAverageUtilization });
}

const STATUSES_FROM_V2: Record<string, Convert> = {
  object: ({ describedObject, metric, current }) =>
    defined({
      target: describedObject,
      metricName: metric.name,
      currentValue: current.value ?? '0',
      selector: metric.selector,
      averageValue: current.averageValue,
    }),
  pods: ({ metric, current }) =>
    defined({ metricName: metric.name, currentAverageValue: current.averageValue ?? '0', selector: metric.selector }),
  resource: ({ name, current }) =>
    defined({ name, currentAverageUtilization: current.averageUtilization, currentAverageValue: current.averageValue ?? '0' }),
  containerResource: ({ name, container, current }) =>
    defined({
      name,
      currentAverageUtilization: current.averageUtilization,
      currentAverageValue: current.averageValue ?? '0',
      container,
    }),
  external: ({ metric, current }) =>
    defined({
      metricName: metric.name,
      metricSelector: metric.selector,
      currentValue: current.value ?? '0',
      currentAverageValue: current.averageValue,
    }),
};

function convertWith(table: Record<string, Convert>): (metric: Json) => Json {
  return (metric) => {
    const converted: Record<string, Json> = { type: metric.type };
    for (const field of Object.keys(table)) if (metric[field]) converted[field] = table[field](metric[field]);
    return converted;
  };
}

export const metricToV2 = convertWith(SPECS_TO_V2);
export const metricFromV2 = convertWith(SPECS_FROM_V2);
export const metricStatusToV2 = convertWith(STATUSES_TO_V2);
export const metricStatusFromV2 = convertWith(STATUSES_FROM_V2);

import { parseLabelSelector, type LabelMatcher } from '../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { messageOf } from './client-text.ts';
import type { MetricsReader } from './metrics-reader.ts';
import { ScalingHistory } from './model/history.ts';
import { normalize } from './model/normalize.ts';
import type { Tolerances } from './model/usage.ts';
import type { Pass } from './pass.ts';
import { MetricFailure, proposalOf, type MetricProposal, type Subject } from './proposals.ts';
import type { Scale, ScaleTargets } from './scale-target.ts';
import { Quantity } from '../../../kube/quantity.ts';

const TOLERANCE = 0.1;

export interface Ports {
  targets: Pick<ScaleTargets, 'scaleOf'>;
  reader: MetricsReader;
  /** What earlier passes left behind for this autoscaler; made by the first. */
  history(initial: () => ScalingHistory): ScalingHistory;
  pods(namespace: string, selector: LabelMatcher): KubeObject[];
  /** The autoscalers that any of these Pods belongs to, by key, this one included. */
  claimants(selector: LabelMatcher, pods: readonly KubeObject[]): string[];
}

/** Brings the target of one autoscaler to the size that its metrics ask for, within its limits, and says so in its status. */
export async function autoscale(pass: Pass, ports: Ports): Promise<void> {
  const scale = await currentScale(pass, ports);
  if (!scale) return;
  const current = scale.specReplicas;
  const history = ports.history(() => new ScalingHistory(current, pass.now));
  const decision = await decide(pass, ports, scale, history);
  if (decision === undefined) return;
  const { desired, reason, metrics: currentMetrics } = decision;
  const rescaled = desired !== current;
  if (rescaled) {
    try {
      await scale.resize(desired);
    } catch (error) {
      const why = messageOf(error);
      pass.event('Warning', 'FailedRescale', `New size: ${desired}; reason: ${reason}; error: ${why}`);
      pass.condition('AbleToScale', 'False', 'FailedUpdateScale', `the HPA controller was unable to update the target scale: ${why}`);
      await pass.writeStatus({ currentReplicas: current, desiredReplicas: told(pass), currentMetrics, rescaled: false });
      return;
    }
    const message = `the HPA controller was able to update the target scale to ${desired}`;
    pass.condition('AbleToScale', 'True', 'SucceededRescale', message);
    pass.event('Normal', 'SuccessfulRescale', `New size: ${desired}; reason: ${reason}`);
    if (pass.spec.behavior !== undefined) history.scaled(current, desired, pass.spec.behavior, pass.now);
  }
  await pass.writeStatus({ currentReplicas: current, desiredReplicas: desired, currentMetrics, rescaled });
}

/** The desired size that the status tells already. */
function told({ hpa }: Pass): number {
  return hpa.status?.desiredReplicas ?? 0;
}

async function currentScale(pass: Pass, { targets }: Ports): Promise<Scale | undefined> {
  try {
    const scale = await targets.scaleOf(pass.namespace, pass.spec.scaleTargetRef);
    pass.condition('AbleToScale', 'True', 'SucceededGetScale', "the HPA controller was able to get the target's current scale");
    return scale;
  } catch (error) {
    const why = messageOf(error);
    pass.event('Warning', 'FailedGetScale', why);
    pass.condition('AbleToScale', 'False', 'FailedGetScale', `the HPA controller was unable to get the target's current scale: ${why}`);
    await pass.writeConditions();
    return undefined;
  }
}

interface SizeDecision {
  desired: number;
  /** Why, for the event. */
  reason: string;
  metrics: Json[] | undefined;
}

/** Undefined when metrics do not tell; that is written then. */
async function decide(pass: Pass, ports: Ports, scale: Scale, history: ScalingHistory): Promise<SizeDecision | undefined> {
  const { minReplicas: min = 1, maxReplicas: max, behavior } = pass.spec;
  const current = scale.specReplicas;
  if (current === 0 && min !== 0) {
    pass.condition('ScalingActive', 'False', 'ScalingDisabled', 'scaling is disabled since the replica count of the target is zero');
    return { desired: 0, reason: '', metrics: undefined };
  }
  if (current > max) return { desired: max, reason: 'Current number of replicas above Spec.MaxReplicas', metrics: undefined };
  if (current < min) return { desired: min, reason: 'Current number of replicas below Spec.MinReplicas', metrics: undefined };
  const wanted = await wantedByMetrics(pass, ports, scale);
  if (wanted === undefined) return undefined;
  const { replicas, ableToScale, limited } = normalize(wanted.replicas, { current, min, max }, behavior, history, pass.now);
  pass.condition('AbleToScale', 'True', ableToScale.reason, ableToScale.message);
  pass.condition('ScalingLimited', limited.status, limited.reason, limited.message);
  const reason = wanted.replicas > current ? `${wanted.name} above target` : wanted.replicas < current ? 'All metrics below target' : '';
  return { desired: replicas, reason, metrics: wanted.statuses };
}

interface Wanted {
  replicas: number;
  name: string;
  statuses: Json[];
}

/** The largest size that any metric asks for. One that cannot be read does not stop the size from growing, but from shrinking. */
async function wantedByMetrics(pass: Pass, ports: Ports, scale: Scale): Promise<Wanted | undefined> {
  const specs: Json[] = pass.spec.metrics ?? [];
  const statuses: Json[] = specs.map(() => ({ type: '' }));
  const refuse = async (message: string, metrics: Json[] | undefined): Promise<undefined> => {
    await pass.writeStatus({ currentReplicas: scale.specReplicas, desiredReplicas: told(pass), currentMetrics: metrics, rescaled: false });
    pass.event('Warning', 'FailedComputeMetricsReplicas', message);
    return undefined;
  };
  const selector = checkedSelector(pass, ports, scale.selector);
  if (typeof selector === 'string') return refuse(selector, undefined);
  const subject = subjectOf(pass, ports, scale, selector);
  const failures: MetricFailure[] = [];
  let largest: MetricProposal | undefined;
  for (const [i, spec] of specs.entries()) {
    const proposal = await proposalOf(ports.reader, spec, subject).catch((error: unknown) => {
      if (!(error instanceof MetricFailure)) throw error;
      return error;
    });
    if (proposal instanceof MetricFailure) {
      pass.event('Warning', proposal.reason, proposal.detail);
      failures.push(proposal);
      continue;
    }
    statuses[i] = proposal.status;
    if (!largest || proposal.replicas > largest.replicas) largest = proposal;
  }
  if (!largest || (failures.length > 0 && largest.replicas < scale.specReplicas)) {
    const [first] = failures;
    if (first) {
      pass.condition('ScalingActive', 'False', first.reason, `the HPA was unable to compute the replica count: ${first.detail}`);
    }
    return refuse(`invalid metrics (${failures.length} invalid out of ${specs.length}), first error is: ${first?.message}`, statuses);
  }
  const message = `the HPA was able to successfully calculate a replica count from ${largest.name}`;
  pass.condition('ScalingActive', 'True', 'ValidMetricFound', message);
  return { replicas: largest.replicas, name: largest.name, statuses };
}

function subjectOf(pass: Pass, ports: Ports, scale: Scale, selector: LabelMatcher): Subject {
  const { namespace, now } = pass;
  let pods: KubeObject[] | undefined;
  return {
    namespace,
    specReplicas: scale.specReplicas,
    statusReplicas: scale.statusReplicas,
    selector,
    pods: () => (pods ??= ports.pods(namespace, selector)),
    tolerances: tolerancesOf(pass.spec.behavior),
    now,
  };
}

function tolerancesOf(behavior: Json): Tolerances {
  const read = (rules: Json): number => (rules?.tolerance === undefined ? TOLERANCE : Number(Quantity.parse(rules.tolerance).nano) / 1e9);
  return { down: read(behavior?.scaleDown), up: read(behavior?.scaleUp) };
}

/** The selector of the target's Pods, or why it cannot be used. */
function checkedSelector(pass: Pass, ports: Ports, text: string): LabelMatcher | string {
  const refuse = (event: string, reason: string, message: string, said = message): string => {
    pass.event('Warning', event, message);
    pass.condition('ScalingActive', 'False', reason, said);
    return message;
  };
  if (text === '') {
    return refuse('SelectorRequired', 'InvalidSelector', 'selector is required', "the HPA target's scale is missing a selector");
  }
  let selector: LabelMatcher;
  try {
    selector = parseLabelSelector(text);
  } catch (error) {
    const message = `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`;
    return refuse('InvalidSelector', 'InvalidSelector', message);
  }
  const claimants = ports.claimants(selector, ports.pods(pass.namespace, selector));
  if (claimants.length < 2) return selector;
  const message = `pods by selector ${text} are controlled by multiple HPAs: [${claimants.join(' ')}]`;
  return refuse('AmbiguousSelector', 'AmbiguousSelector', message);
}

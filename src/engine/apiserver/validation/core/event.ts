import { isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { deepEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkImmutable, checkImmutableForm, checkQualifiedName } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { path } from '../path.ts';

/** Events of both groups are stored in the core form; the newer group asks for more and names fields its own way. */
const LIMIT = 128;
const MESSAGE_LIMIT = 1024;

/** The same facts in one shape, whichever group they came in. */
interface EventView {
  object: KubeObject;
  isCore: boolean;
  involved: Json;
  controller: string;
  message: string;
}

function viewOf(event: KubeObject): EventView {
  const isCore = event.apiVersion === 'v1';
  return {
    object: event,
    isCore,
    involved: (isCore ? event.involvedObject : event.regarding) ?? {},
    controller: (isCore ? event.reportingComponent : event.reportingController) ?? '',
    message: (isCore ? event.message : event.note) ?? '',
  };
}

export function validateEvent(out: Findings, event: KubeObject, old: KubeObject | undefined): void {
  const view = viewOf(event);
  checkLegacy(out, view);
  if (view.isCore) return;
  if (old === undefined) checkNew(out, event);
  else checkUpdate(out, view, viewOf(old));
}

function checkLegacy(out: Findings, view: EventView): void {
  const { object: event, involved } = view;
  const { namespace = '' } = event.metadata;
  const mismatch = (): void => out.invalid(path('involvedObject', 'namespace'), involved.namespace ?? '', 'does not match event.namespace');
  if (event.eventTime === undefined || event.eventTime === null) {
    if (!involved.namespace) {
      if (namespace !== '' && namespace !== 'default') mismatch();
    } else if (involved.namespace !== namespace) mismatch();
  } else {
    if (!involved.namespace && namespace !== 'default' && namespace !== 'kube-system') mismatch();
    checkReporting(out, view);
  }
  out.invalidEach(path('namespace'), namespace, isDns1123Subdomain(namespace));
}

function checkReporting(out: Findings, { object: event, isCore, controller, message }: EventView): void {
  const controllerAt = path(isCore ? 'reportingComponent' : 'reportingController');
  if (controller === '') out.required(controllerAt);
  checkQualifiedName(out, controller, controllerAt);
  for (const field of ['reportingInstance', 'action', 'reason']) {
    const value: string = event[field] ?? '';
    if (value === '') out.required(path(field));
    if (value.length > LIMIT) out.invalid(path(field), '', `can have at most ${LIMIT} characters`);
  }
  if (message.length > MESSAGE_LIMIT) out.invalid(path('message'), '', `can have at most ${MESSAGE_LIMIT} characters`);
}

function checkSeries(out: Findings, series: Json): void {
  if (series === undefined) return;
  if ((series.count ?? 0) < 2) out.invalid(path('series.count'), '', 'should be at least 2');
  if (series.lastObservedTime === undefined) out.required(path('series.lastObservedTime'));
}

function checkNew(out: Findings, event: KubeObject): void {
  checkSeries(out, event.series);
  if (event.eventTime === undefined || event.eventTime === null) out.required(path('eventTime'));
  const type: string = event.type ?? '';
  if (type !== 'Normal' && type !== 'Warning') out.invalid(path('type'), '', `has invalid value: ${type}`);
  if (event.deprecatedFirstTimestamp !== undefined) out.invalid(path('firstTimestamp'), '', 'needs to be unset');
  if (event.deprecatedLastTimestamp !== undefined) out.invalid(path('lastTimestamp'), '', 'needs to be unset');
  if (event.deprecatedCount) out.invalid(path('count'), '', 'needs to be unset');
  const { component, host } = event.deprecatedSource ?? {};
  if (component || host) out.invalid(path('source'), '', 'needs to be unset');
}

function checkUpdate(out: Findings, view: EventView, old: EventView): void {
  const [event, before] = [view.object, old.object];
  if (!deepEqual(event.series, before.series)) checkSeries(out, event.series);
  checkReference(out, 'ObjectReference', view.involved, old.involved, 'involvedObject');
  checkImmutable(out, event.reason ?? '', before.reason ?? '', path('reason'));
  checkImmutable(out, view.message, old.message, path('message'));
  checkReference(out, 'EventSource', event.deprecatedSource ?? {}, before.deprecatedSource ?? {}, 'source');
  checkImmutable(out, event.deprecatedFirstTimestamp ?? null, before.deprecatedFirstTimestamp ?? null, path('firstTimestamp'));
  checkImmutable(out, event.deprecatedLastTimestamp ?? null, before.deprecatedLastTimestamp ?? null, path('lastTimestamp'));
  checkImmutable(out, event.deprecatedCount ?? 0, before.deprecatedCount ?? 0, path('count'));
  checkImmutable(out, event.reason ?? '', before.reason ?? '', path('reason'));
  checkImmutable(out, event.type ?? '', before.type ?? '', path('type'));
  checkImmutable(out, event.eventTime ?? null, before.eventTime ?? null, path('eventTime'));
  checkImmutable(out, event.action ?? '', before.action ?? '', path('action'));
  checkReference(out, 'ObjectReference', event.related, before.related, 'related');
  checkImmutable(out, view.controller, old.controller, path('reportingController'));
  checkImmutable(out, event.reportingInstance ?? '', before.reportingInstance ?? '', path('reportingInstance'));
}

function checkReference(out: Findings, type: string, value: Json, old: Json, field: string): void {
  checkImmutableForm(out, type, value, old, path(field), () => (value === undefined ? null : internalForm(type, value)));
}

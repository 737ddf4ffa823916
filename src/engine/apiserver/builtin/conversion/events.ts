import type { KubeObject } from '../../../../kube/object.ts';
import { objectDecoder } from '../decode/decode.ts';

/** The names of the same things in events.k8s.io and in the core group, where Events are stored. */
const NAMES: [events: string, core: string][] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

const { decode: decodeCore } = objectDecoder('io.k8s.api.core.v1.Event', 'Event');
const { decode: decodeEvents } = objectDecoder('io.k8s.api.events.v1.Event', 'Event');
const TO_CORE = new Map(NAMES);
const TO_EVENTS = new Map(NAMES.map(([events, core]) => [core, events]));

function rename(event: KubeObject, names: ReadonlyMap<string, string>, apiVersion: string): KubeObject {
  const renamed: KubeObject = { apiVersion, kind: 'Event', metadata: event.metadata };
  for (const field in event) if (field !== 'apiVersion') renamed[names.get(field) ?? field] = event[field];
  return renamed;
}

export function eventToCore(event: KubeObject): KubeObject {
  return decodeCore(rename(event, TO_CORE, 'v1'), 'v1');
}

export function eventFromCore(event: KubeObject): KubeObject {
  return decodeEvents(rename(event, TO_EVENTS, 'events.k8s.io/v1'), 'v1');
}

import { ROTATE_ANNOTATION } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { formatTime } from '../../../kube/time.ts';
import { labelsOf, type Target } from '../installation/model/target.ts';
import type { BrokerCredentials } from './model/broker-credentials.ts';
import { addressText, type BrokerSettings } from './model/broker-settings.ts';
import { clientPrefixOf, deadLetterPrefixOf, SLOTS, topicOf, userOf } from './model/event-names.ts';

/** In the namespace of the plugin: what it needs to reach its events. */
export const EVENTS_SECRET = 'plugin-events';

const SINCE = 'plugins.tenantry.dev/credentials-since';
const OTHER_UNTIL = 'plugins.tenantry.dev/other-credentials-until';

export function eventsSecret(target: Target, settings: BrokerSettings, credentials: BrokerCredentials): KubeObject {
  const { tenant, plugin } = target;
  const { slot, password, since, otherUntil, request } = credentials;
  const entries: Record<string, string> = {
    'bootstrap-servers': settings.pluginServers.map(addressText).join(','),
    'security-protocol': settings.tls ? 'SASL_SSL' : 'SASL_PLAINTEXT',
    mechanism: 'SCRAM-SHA-512',
    user: userOf(tenant, plugin, slot),
    password,
    'topic-prefix': topicOf(tenant, ''),
    'group-prefix': clientPrefixOf(tenant, plugin),
    'transactional-id-prefix': clientPrefixOf(tenant, plugin),
    'dead-letter-prefix': deadLetterPrefixOf(tenant, plugin),
    ...(settings.tls?.ca === undefined ? {} : { 'ca.crt': settings.tls.ca }),
  };
  const annotations = {
    [SINCE]: formatTime(new Date(since)),
    [OTHER_UNTIL]: formatTime(new Date(otherUntil)),
    [ROTATE_ANNOTATION]: request,
  };
  const data = Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, Buffer.from(value).toString('base64')]));
  const metadata = { name: EVENTS_SECRET, labels: labelsOf(target, 'events'), annotations };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
}

/** What the Secret says; undefined when it is not whole. */
export function credentialsIn(secret: KubeObject | undefined, tenant: string, plugin: string): BrokerCredentials | undefined {
  const read = (name: string): string => Buffer.from((secret?.data?.[name] ?? '') as string, 'base64').toString();
  const annotations = secret?.metadata.annotations ?? {};
  const slot = SLOTS.find((each) => userOf(tenant, plugin, each) === read('user'));
  const password = read('password');
  const [since, otherUntil] = [Date.parse(annotations[SINCE] ?? ''), Date.parse(annotations[OTHER_UNTIL] ?? '')];
  if (slot === undefined || password === '' || Number.isNaN(since) || Number.isNaN(otherUntil)) return undefined;
  return { slot, password, since, otherUntil, request: annotations[ROTATE_ANNOTATION] ?? '' };
}

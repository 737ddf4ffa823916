import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GATEWAY_REPORTS_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Target } from '../installation/model/target.ts';
import { networkPolicies } from '../network/network-policies.ts';
import { GATEWAY_ACCOUNT, gatewayRights } from './gateway-rights.ts';
import { GATEWAY_PODS, GATEWAY_URL_IN_CLUSTER } from './gateway-service.ts';

const chart = readFileSync(new URL('../../../../charts/tenantry/templates/gateway.yaml', import.meta.url), 'utf8');

test('the chart has the Service that plugins are told of, and runs it as the account that has the rights', () => {
  const [, name, namespace, port] = /^http:\/\/([^.]+)\.([^.]+)\.svc:(\d+)$/.exec(GATEWAY_URL_IN_CLUSTER)!;
  expect(chart).toMatch(new RegExp(`kind: Service\\nmetadata:\\n  name: ${name}\\n  namespace: ${namespace}\\n`));
  expect(chart).toContain(`port: ${port}, targetPort: http`);
  expect(chart).toContain(`--listen=:${port}`);
  expect(chart).toContain(`serviceAccountName: ${GATEWAY_ACCOUNT.name}`);
  expect(chart).toMatch(new RegExp(`kind: ServiceAccount\\nmetadata:\\n  name: ${GATEWAY_ACCOUNT.name}\\n`));
});

test('network policies let the Pods of the chart in to plugins, and plugins that name the gateway to them', () => {
  const [[label, value]] = Object.entries(GATEWAY_PODS.podSelector.matchLabels);
  expect(chart).toContain(`template:\n    metadata:\n      labels: { ${label}: ${value} }`);
  const manifest = { spec: { runtime: {}, egress: { to: ['gateway', 'otlp'] } } };
  const target = { plugin: 'hello', publisher: 'acme', manifest } as unknown as Target;
  const [, out, into] = networkPolicies(target);
  expect(into.spec.ingress[0].from).toContainEqual(GATEWAY_PODS);
  expect(out.spec.egress[1]).toMatchObject({ to: [expect.anything(), GATEWAY_PODS], ports: [{ port: 8090 }] });
  expect(out.spec.egress[2].to).toHaveLength(1);
});

test('a gateway writes ConfigMaps in a namespace of its own alone', () => {
  const writing = gatewayRights().flatMap(({ kind, metadata, rules = [] }) =>
    (rules as { resources: string[]; verbs: string[] }[])
      .filter(({ resources, verbs }) => resources.includes('configmaps') && verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)))
      .map(() => [kind, metadata.namespace]),
  );
  expect(writing).toEqual([['Role', GATEWAY_REPORTS_NAMESPACE]]);
});

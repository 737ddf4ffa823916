import type { AddOn } from './add-on.ts';

const NAME = 'tenantry-ingress';
/** Where no other add-on puts anything: its limits and denials are not for the system. */
const NAMESPACE = 'kube-system';
const LABELS = { 'app.kubernetes.io/name': NAME };
const RBAC = 'rbac.authorization.k8s.io';
const READ = ['get', 'list', 'watch'];

/** An ingress controller behind a load balancer of its own, and the class of Ingresses that is its. */
export const ingressAddOn: AddOn = {
  name: 'ingress',
  objects: [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace: NAMESPACE } },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: NAME },
      rules: [
        { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingressclasses'], verbs: READ },
        { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['patch'] },
        { apiGroups: [''], resources: ['services'], verbs: READ },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ },
        // Those that Ingresses name; it cannot look for others.
        { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
      ],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: NAME },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }],
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: 'tenantry', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
      spec: { controller: 'tenantry.dev/ingress' },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: NAME, namespace: NAMESPACE },
      spec: {
        replicas: 1,
        selector: { matchLabels: LABELS },
        // The new one is there before the old one goes.
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: { metadata: { labels: LABELS }, spec: podSpec() },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: NAME, namespace: NAMESPACE },
      spec: {
        type: 'LoadBalancer',
        selector: LABELS,
        ports: [
          { name: 'http', port: 80, targetPort: 'http' },
          { name: 'https', port: 443, targetPort: 'https' },
        ],
      },
    },
  ],
};

function podSpec() {
  const fromField = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return {
    serviceAccountName: NAME,
    terminationGracePeriodSeconds: 60,
    containers: [
      {
        name: 'ingress',
        image: 'tenantry.dev/ingress',
        imagePullPolicy: 'IfNotPresent',
        args: ['--service', NAME],
        env: [fromField('POD_IP', 'status.podIP'), fromField('POD_NAMESPACE', 'metadata.namespace')],
        ports: [
          { name: 'http', containerPort: 8080 },
          { name: 'https', containerPort: 8443 },
          { name: 'health', containerPort: 8081 },
        ],
        readinessProbe: { httpGet: { path: '/', port: 'health' }, periodSeconds: 2 },
        livenessProbe: { httpGet: { path: '/', port: 'health' }, periodSeconds: 10, failureThreshold: 6 },
        resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  };
}

/** What runtimed does: takes Runs, says how they are, reads what they refer to, keeps their logs. */
export const RUNTIMED_RULES = [
  { apiGroups: ['kruntimes.io'], resources: ['runs'], verbs: ['get', 'list', 'watch', 'update', 'patch'] },
  { apiGroups: ['kruntimes.io'], resources: ['runs/status'], verbs: ['get', 'update', 'patch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
  { apiGroups: [''], resources: ['pods/status'], verbs: ['get', 'patch'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

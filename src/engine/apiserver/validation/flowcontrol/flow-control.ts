import { isDns1123Label, isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { internalForm } from '../internal-form.ts';
import { path, type Path } from '../path.ts';

const SPEC = path('spec');
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];
const MAX_PRECEDENCE = 10_000;

export function validateFlowSchema(out: Findings, schema: KubeObject, _old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') return checkStatusConditions(out, schema);
  const {
    matchingPrecedence: precedence = 0,
    distinguisherMethod: method,
    priorityLevelConfiguration = {},
    rules = [],
  } = schema.spec ?? {};
  const precedenceAt = SPEC.child('matchingPrecedence');
  if (precedence <= 0) out.invalid(precedenceAt, precedence, 'must be a positive value');
  if (precedence > MAX_PRECEDENCE) out.invalid(precedenceAt, precedence, `must not be greater than ${MAX_PRECEDENCE}`);
  if (precedence === 1 && schema.metadata.name !== 'exempt') {
    out.invalid(precedenceAt, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  }
  if (method !== undefined && method.type !== 'ByUser' && method.type !== 'ByNamespace') {
    const form = internalForm('flowcontrol.FlowDistinguisherMethod', method);
    out.notSupported(SPEC.child('distinguisherMethod', 'type'), form, ['ByNamespace', 'ByUser']);
  }
  const nameAt = SPEC.child('priorityLevelConfiguration', 'name');
  const { name = '' } = priorityLevelConfiguration;
  if (name === '') out.required(nameAt, 'must reference a priority level');
  else out.invalidEach(nameAt, name, isDns1123Subdomain(name));
  rules.forEach((rule: Json, i: number) => checkRule(out, rule, SPEC.child('rules').index(i)));
  checkStatusConditions(out, schema);
}

function checkStatusConditions(out: Findings, object: KubeObject): void {
  const types = new Set<string>();
  (object.status?.conditions ?? []).forEach(({ type = '' }: Json, i: number) => {
    const at = path('status', 'conditions').index(i).child('type');
    if (types.has(type)) out.duplicate(at, type);
    types.add(type);
    if (type === '') out.required(at);
  });
}

function checkRule(out: Findings, { subjects = [], resourceRules = [], nonResourceRules = [] }: Json, at: Path): void {
  if (subjects.length === 0) out.required(at.child('subjects'), 'subjects must contain at least one value');
  subjects.forEach((subject: Json, i: number) => checkSubject(out, subject, at.child('subjects').index(i)));
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    out.required(at, 'at least one of resourceRules and nonResourceRules has to be non-empty');
  }
  resourceRules.forEach((rule: Json, i: number) => checkResourceRule(out, rule, at.child('resourceRules').index(i)));
  nonResourceRules.forEach((rule: Json, i: number) => checkNonResourceRule(out, rule, at.child('nonResourceRules').index(i)));
}

const SUBJECTS = [
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
];

function checkSubject(out: Findings, subject: Json, at: Path): void {
  const kind = SUBJECTS.find(([name]) => name === subject.kind);
  if (kind === undefined) return out.notSupported(at.child('kind'), subject.kind ?? '', ['Group', 'ServiceAccount', 'User']);
  const [name, field] = kind;
  const value = subject[field];
  if (value === undefined) out.required(at.child(field), `${field} is required when subject kind is '${name}'`);
  else if (name === 'ServiceAccount') checkServiceAccount(out, value, at.child(field));
  else if (!value.name) out.required(at.child(field, 'name'));
  for (const [otherName, otherField] of SUBJECTS) {
    if (otherField === field || subject[otherField] === undefined) continue;
    out.forbidden(at.child(otherField), `${otherField} is forbidden when subject kind is not '${otherName}'`);
  }
}

function checkServiceAccount(out: Findings, { name = '', namespace = '' }: Json, at: Path): void {
  if (name === '') out.required(at.child('name'));
  else if (name !== '*') out.invalidEach(at.child('name'), name, isDns1123Subdomain(name));
  if (namespace === '') out.required(at.child('namespace'), 'must specify namespace for service account');
  else out.invalidEach(at.child('namespace'), namespace, isDns1123Label(namespace));
}

function checkVerbs(out: Findings, verbs: string[], at: Path): void {
  if (verbs.length === 0) out.required(at, 'verbs must contain at least one value');
  else if (verbs.includes('*')) {
    if (verbs.length > 1) out.invalid(at, verbs, "if '*' is present, must not specify other verbs");
  } else if (verbs.some((verb) => !VERBS.includes(verb))) out.notSupported(at, verbs, VERBS);
}

function checkResourceRule(out: Findings, rule: Json, at: Path): void {
  const { verbs = [], apiGroups = [], resources = [], namespaces = [], clusterScope } = rule;
  const alone = (values: string[], what: string, fieldAt: Path): void => {
    if (values.length > 1 && values.includes('*')) out.invalid(fieldAt, values, `if '*' is present, must not specify other ${what}`);
  };
  checkVerbs(out, verbs, at.child('verbs'));
  if (apiGroups.length === 0) out.required(at.child('apiGroups'), 'resource rules must supply at least one api group');
  alone(apiGroups, 'api groups', at.child('apiGroups'));
  if (resources.length === 0) out.required(at.child('resources'), 'resource rules must supply at least one resource');
  alone(resources, 'resources', at.child('resources'));
  const namespacesAt = at.child('namespaces');
  if (namespaces.length === 0 && !clusterScope) {
    out.required(namespacesAt, 'resource rules that are not cluster scoped must supply at least one namespace');
  } else if (namespaces.includes('*')) alone(namespaces, 'namespaces', namespacesAt);
  else {
    namespaces.forEach((namespace: string, i: number) => {
      const messages = isDns1123Label(namespace).map((m) => `each member of this list must be '*' or a DNS-1123 label; ${m}`);
      out.invalidEach(namespacesAt.index(i), namespace, messages);
    });
  }
}

function checkNonResourceRule(out: Findings, { verbs = [], nonResourceURLs: urls = [] }: Json, at: Path): void {
  checkVerbs(out, verbs, at.child('verbs'));
  const urlsAt = at.child('nonResourceURLs');
  if (urls.length === 0) out.required(urlsAt, 'nonResourceURLs must contain at least one value');
  else if (urls.includes('*')) {
    if (urls.length > 1) out.invalid(urlsAt, urls, "if '*' is present, must not specify other non-resource URLs");
  } else {
    urls.forEach((url: string, i: number) => {
      const error = urlError(url);
      if (error !== undefined) out.invalid(urlsAt.index(i), url, error);
    });
  }
}

function urlError(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const wildcards = url.split('*').length - 1;
  return wildcards > 1 || (wildcards === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined;
}

const ZERO_SHARES = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
const MAX_QUEUES = 10_000_000;
const MAX_HASH_BITS = 60;

export function validatePriorityLevel(out: Findings, level: KubeObject, _old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') return checkStatusConditions(out, level);
  if (level.metadata.annotations?.[ZERO_SHARES] !== undefined) {
    out.forbidden(path('metadata', 'annotations'), `annotation '${ZERO_SHARES}' is forbidden`);
  }
  const { type = '', limited, exempt } = level.spec ?? {};
  if ((level.metadata.name === 'exempt') !== (type === 'Exempt')) {
    out.invalid(SPEC.child('type'), type, "must be 'Exempt' if and only if `name` is 'exempt'");
  }
  if (type === 'Exempt') {
    if (limited !== undefined) out.forbidden(SPEC.child('limited'), 'must be nil if the type is not Limited');
    if (exempt !== undefined) checkShares(out, exempt, SPEC.child('exempt'));
  } else if (type === 'Limited') {
    if (exempt !== undefined) out.forbidden(SPEC.child('exempt'), 'must be nil if the type is Limited');
    if (limited === undefined) out.required(SPEC.child('limited'), 'must not be empty when type is Limited');
    else checkLimited(out, limited, SPEC.child('limited'));
  } else out.notSupported(SPEC.child('type'), type, ['Exempt', 'Limited']);
  checkStatusConditions(out, level);
}

function checkNominal(out: Findings, shares: number | undefined, at: Path): void {
  if (shares !== undefined && shares < 0) out.invalid(at.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer');
}

function checkLendable(out: Findings, percent: number | undefined, at: Path): void {
  if (percent !== undefined && (percent < 0 || percent > 100)) {
    out.invalid(at.child('lendablePercent'), percent, 'must be between 0 and 100, inclusive');
  }
}

function checkShares(out: Findings, { nominalConcurrencyShares, lendablePercent }: Json, at: Path): void {
  checkNominal(out, nominalConcurrencyShares, at);
  checkLendable(out, lendablePercent, at);
}

function checkLimited(out: Findings, limited: Json, at: Path): void {
  checkNominal(out, limited.nominalConcurrencyShares, at);
  checkLimitResponse(out, limited.limitResponse ?? {}, at.child('limitResponse'));
  checkLendable(out, limited.lendablePercent, at);
  const borrowing = limited.borrowingLimitPercent;
  if (borrowing < 0) out.invalid(at.child('borrowingLimitPercent'), borrowing, 'if specified, must be a non-negative integer');
}

function checkLimitResponse(out: Findings, { type = '', queuing }: Json, at: Path): void {
  if (type === 'Reject') {
    if (queuing !== undefined) out.forbidden(at.child('queuing'), 'must be nil if limited.limitResponse.type is not Limited');
  } else if (type === 'Queue') {
    if (queuing === undefined) out.required(at.child('queuing'), 'must not be empty if limited.limitResponse.type is Limited');
    else checkQueuing(out, queuing, at.child('queuing'));
  } else out.notSupported(at.child('type'), type, ['Queue', 'Reject']);
}

function checkQueuing(out: Findings, { queueLengthLimit = 0, queues = 0, handSize = 0 }: Json, at: Path): void {
  if (queueLengthLimit <= 0) out.invalid(at.child('queueLengthLimit'), queueLengthLimit, 'must be positive');
  if (queues <= 0) out.invalid(at.child('queues'), queues, 'must be positive');
  else if (queues > MAX_QUEUES) out.invalid(at.child('queues'), queues, `must not be greater than ${MAX_QUEUES}`);
  const handAt = at.child('handSize');
  if (handSize <= 0) out.invalid(handAt, handSize, 'must be positive');
  else if (handSize > queues) out.invalid(handAt, handSize, `should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * handSize) > MAX_HASH_BITS) {
    const what = `required entropy bits of deckSize ${queues} and handSize ${handSize}`;
    out.invalid(handAt, handSize, `${what} should not be greater than ${MAX_HASH_BITS}`);
  }
}

import type { ObjectReader } from '../../registry/objects.ts';
import { ruleMatches } from '../rbac/rule-matching.ts';
import type { Attributes, Authorizer, Decision, PolicyRule, UserInfo } from '../user.ts';
import { nodeOfUser } from './node-user.ts';
import { refersTo, type ReferencedResource } from './pod-references.ts';
import { PodsOfNodes } from './pods-of-nodes.ts';

const ALLOWED: Decision = Object.freeze({ allowed: true, reason: '' });
const SILENT: Decision = Object.freeze({ allowed: false, reason: '' });
const NODES = { group: '', resource: 'nodes' };
const VOLUMES = { group: '', resource: 'persistentvolumes' };
const LEASES_NAMESPACE = 'kube-node-lease';
const READ = ['get', 'list', 'watch'];

/** What is the same for all nodes; the rest is told apart by whose it is. */
const RULES: readonly PolicyRule[] = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['localsubjectaccessreviews', 'subjectaccessreviews'], verbs: ['create'] },
  { apiGroups: [''], resources: ['services'], verbs: READ },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  { apiGroups: [''], resources: ['endpoints'], verbs: ['get'] },
  { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', ...READ] },
  { apiGroups: ['storage.k8s.io'], resources: ['csidrivers'], verbs: READ },
  { apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'], verbs: READ },
];

/**
 * Nodes may what concerns themselves: their own object, the Pods that are bound to them, and the Secrets, ConfigMaps, claims and accounts that those Pods
 * name. As kube-apiserver's Node authorizer, whose words it has; whatever it does not allow, the next one may.
 */
export class NodeAuthorizer implements Authorizer {
  readonly #reader: ObjectReader;
  readonly #next: Authorizer;
  readonly #pods: PodsOfNodes;

  constructor(reader: ObjectReader, next: Authorizer) {
    this.#reader = reader;
    this.#next = next;
    this.#pods = new PodsOfNodes(reader);
  }

  authorize(attributes: Attributes): Decision {
    const node = nodeOfUser(attributes.user);
    if (node === undefined) return this.#next.authorize(attributes);
    const own = this.#ofNode(node, attributes);
    if (own.allowed) return own;
    const other = this.#next.authorize(attributes);
    if (other.allowed || own.reason === '') return other;
    return { allowed: false, reason: [own.reason, other.reason].filter((reason) => reason !== '').join('\n') };
  }

  rulesFor(user: UserInfo, namespace: string): PolicyRule[] {
    return this.#next.rulesFor(user, namespace);
  }

  #ofNode(node: string, attributes: Attributes): Decision {
    if (attributes.path !== undefined) return SILENT;
    switch (`${attributes.group ?? ''}/${attributes.resource ?? ''}`) {
      case '/secrets':
        return this.#readOne(node, 'secrets', attributes);
      case '/configmaps':
        return this.#readOne(node, 'configmaps', attributes);
      case '/persistentvolumeclaims':
        if (attributes.subresource === 'status') return this.#claimStatus(node, attributes);
        return this.#getOne(attributes, () => this.#isReferenced(node, 'persistentvolumeclaims', attributes.namespace, attributes.name));
      case '/persistentvolumes':
        return this.#getOne(attributes, () => this.#isVolumeOf(node, attributes.name));
      case '/serviceaccounts':
        return this.#account(node, attributes);
      case 'coordination.k8s.io/leases':
        return ownObject(node, attributes, 'a node lease', 'node lease', LEASES_NAMESPACE);
      case 'storage.k8s.io/csinodes':
        return ownObject(node, attributes, 'a CSINode', 'CSINode');
      case 'storage.k8s.io/volumeattachments':
      case 'resource.k8s.io/resourceclaims':
      case 'resource.k8s.io/resourceslices':
        // Nothing here makes them.
        return refused(unrelated(node));
      case '/nodes':
        return nodeObject(node, attributes);
      case '/pods':
        return this.#pod(node, attributes);
      default:
        return RULES.some((rule) => ruleMatches(rule, attributes)) ? ALLOWED : SILENT;
    }
  }

  #readOne(node: string, resource: ReferencedResource, { verb, subresource, namespace, name }: Attributes): Decision {
    if (!READ.includes(verb)) return refused('can only read resources of this type');
    if (subresource) return refused('cannot read subresource');
    if (!namespace) return refused('can only read namespaced object of this type');
    if (!name) return refused('No Object name found');
    return this.#isReferenced(node, resource, namespace, name) ? ALLOWED : refused(unrelated(node));
  }

  #getOne({ verb, subresource, name, user }: Attributes, isRelated: () => boolean): Decision {
    if (verb !== 'get') return refused('can only get individual resources of this type');
    if (subresource) return refused('cannot get subresource');
    if (!name) return refused('No Object name found');
    return isRelated() ? ALLOWED : refused(unrelated(nodeOfUser(user)!));
  }

  #claimStatus(node: string, { verb, namespace, name }: Attributes): Decision {
    if (verb !== 'update' && verb !== 'patch') return refused('can only get/update/patch this type');
    return this.#isReferenced(node, 'persistentvolumeclaims', namespace, name) ? ALLOWED : refused(unrelated(node));
  }

  #account(node: string, attributes: Attributes): Decision {
    const { verb, subresource, name, namespace } = attributes;
    if (verb === 'get' && !subresource) return this.#readOne(node, 'serviceaccounts', attributes);
    if (verb !== 'create' || !name) return refused('can only create tokens for individual service accounts');
    if (subresource !== 'token') return refused('can only create token subresource of serviceaccount');
    return this.#isReferenced(node, 'serviceaccounts', namespace, name) ? ALLOWED : refused(unrelated(node));
  }

  #pod(node: string, attributes: Attributes): Decision {
    const { verb, subresource = '', namespace = '', name = '', fieldSelector } = attributes;
    if (subresource === 'status') return verb === 'update' || verb === 'patch' ? ALLOWED : SILENT;
    if (subresource === 'eviction') return verb === 'create' ? ALLOWED : SILENT;
    if (subresource !== '') return SILENT;
    const isBound = () => [...this.#pods.of(node, namespace)].some(({ metadata }) => metadata.name === name);
    switch (verb) {
      case 'get':
        return this.#getOne(attributes, isBound);
      case 'list':
      case 'watch':
        if (selectsNode(fieldSelector, node)) return ALLOWED;
        if (name === '') return refused('can only list/watch pods with spec.nodeName field selector');
        return isBound() ? ALLOWED : refused(unrelated(node));
      case 'create':
      case 'delete':
        // Admission sees to it that they are its own.
        return ALLOWED;
      default:
        return SILENT;
    }
  }

  #isReferenced(node: string, resource: ReferencedResource, namespace = '', name = ''): boolean {
    if (this.#reader.get(NODES, '', node) === undefined) return false;
    for (const pod of this.#pods.of(node, namespace)) if (refersTo(pod, resource, name)) return true;
    return false;
  }

  #isVolumeOf(node: string, name = ''): boolean {
    const claim = this.#reader.get(VOLUMES, '', name)?.spec?.claimRef;
    return claim !== undefined && this.#isReferenced(node, 'persistentvolumeclaims', claim.namespace, claim.name);
  }
}

/** A comma that is escaped is part of a value, and what follows it no requirement. */
function selectsNode(fieldSelector: string | undefined, node: string): boolean {
  if (fieldSelector === undefined || fieldSelector.includes('\\')) return false;
  return fieldSelector.split(',').some((part) => part === `spec.nodeName=${node}` || part === `spec.nodeName==${node}`);
}

function refused(reason: string): Decision {
  return { allowed: false, reason };
}

function unrelated(node: string): string {
  return `no relationship found between node '${node}' and this object`;
}

function ownObject(node: string, { verb, subresource, namespace, name }: Attributes, one: string, what: string, within?: string): Decision {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(verb)) {
    return refused(`can only get, create, update, patch, or delete ${one}`);
  }
  if (within === undefined && subresource) return refused(`cannot authorize ${what} subresources`);
  if (within !== undefined && namespace !== within) return refused(`can only access leases in the "${within}" system namespace`);
  // The name of what is created is in its body, which admission sees.
  if (verb !== 'create' && name !== node) return refused(`can only access ${what} with the same name as the requesting node`);
  return ALLOWED;
}

function nodeObject(node: string, { verb, subresource = '', name = '' }: Attributes): Decision {
  const isWrite = verb === 'update' || verb === 'patch';
  if (subresource === 'status') return isWrite ? ALLOWED : SILENT;
  if (subresource !== '') return SILENT;
  if (isWrite || verb === 'create') return ALLOWED;
  if (!READ.includes(verb)) return SILENT;
  if (name === node) return ALLOWED;
  return refused(`node '${node}' cannot read ${name === '' ? 'all nodes' : `'${name}'`}, only its own Node object`);
}

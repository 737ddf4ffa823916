import { WORKER_TOKEN_GROUP } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { CertificateRequest } from '../../../../lib/pki/certificate-request.ts';
import type { Worker } from './pool-plan.ts';

export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
export const SERVING_SIGNER = 'kubernetes.io/kubelet-serving';

/** Who asks for a certificate, and for which. */
export interface AskedCertificate {
  signerName: string;
  username: string;
  groups: readonly string[];
  usages: readonly string[];
  request: Pick<CertificateRequest, 'subject' | 'alternativeNames'>;
}

/** `leave`: it has nothing to do with workers of ours, and is for the administrators of the cluster. */
export type Verdict = { verdict: 'approve'; worker: string } | { verdict: 'deny'; message: string } | { verdict: 'leave' };

const TOKEN_USER = 'system:bootstrap:';
const NODE_USER = 'system:node:';

/**
 * Whether a request for a node's certificate is that of a worker: name, groups, usages and addresses as they were allocated, and asked for with the token
 * that was given to that worker, or by itself.
 * @param tokenOf the id of the token that a worker was given
 */
export function judgeRequest(asked: AskedCertificate, workers: readonly Worker[], tokenOf: (worker: Worker) => string): Verdict {
  const { signerName, username, groups } = asked;
  if (signerName !== CLIENT_SIGNER && signerName !== SERVING_SIGNER) return { verdict: 'leave' };
  const { commonName, organizations } = asked.request.subject;
  const named = workers.find(({ name }) => commonName === `${NODE_USER}${name}`);
  const isTokenOfOurs = groups.includes(WORKER_TOKEN_GROUP);
  const asker = workers.find((worker) => username === `${NODE_USER}${worker.name}` || username === `${TOKEN_USER}${tokenOf(worker)}`);
  if (!isTokenOfOurs && asker === undefined && named === undefined) return { verdict: 'leave' };
  const deny = (message: string): Verdict => ({ verdict: 'deny', message });
  if (asker === undefined) return deny(`"${username}" is no worker of this cluster, and has no token of one`);
  if (named?.name !== asker.name) return deny(`worker "${asker.name}" asks for a certificate of "${commonName}"`);
  if (organizations.length !== 1 || organizations[0] !== 'system:nodes') {
    return deny(`worker "${asker.name}" asks for a certificate of the groups ${list(organizations)}`);
  }
  const isServing = signerName === SERVING_SIGNER;
  if (isServing && username !== `${NODE_USER}${asker.name}`) return deny(`worker "${asker.name}" has to ask for it as itself`);
  const purpose = isServing ? 'server auth' : 'client auth';
  const usages = new Set(asked.usages);
  usages.delete('key encipherment');
  if (usages.size !== 2 || !usages.has('digital signature') || !usages.has(purpose)) {
    return deny(`worker "${asker.name}" asks for a certificate for ${list(asked.usages)}`);
  }
  const problem = namesProblem(asked.request.alternativeNames, asker, isServing);
  return problem === undefined ? { verdict: 'approve', worker: asker.name } : deny(problem);
}

function namesProblem(names: CertificateRequest['alternativeNames'], { name, address }: Worker, isServing: boolean): string | undefined {
  const { dnsNames, addresses, emails, uris } = names;
  const others = [
    ...dnsNames.filter((each) => !isServing || each !== name),
    ...addresses.filter((each) => !isServing || each !== address),
    ...emails,
    ...uris,
  ];
  if (others.length > 0) return `worker "${name}" has the address ${address}, and asks for a certificate for ${list(others)}`;
  return isServing && dnsNames.length + addresses.length === 0 ? `worker "${name}" asks for a certificate without its address` : undefined;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? 'nothing' : items.map((item) => `"${item}"`).join(', ');
}

import { CertificateSigningRequest, SubjectAccessReview } from '../../../client/kinds.ts';
import { findCondition } from '../../../kube/conditions.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import { errorText } from '../../../lib/log.ts';
import type { CertificateRequest } from '../../../lib/pki/certificate-request.ts';
import type { Authority } from '../../../lib/pki/certificate.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';
import { cleanUpAfter } from './clean-up.ts';
import { KUBELET_CLIENT, kubeletClientObjection, objectionOf, OUR_SIGNERS } from './recognise.ts';

/** A certificate request, as the client reads it. */
type Request = NonNullable<(typeof CertificateSigningRequest)['objectType']>;

/** Who may have a kubelet's client certificate without a person's approval: a node for itself, a bootstrap token for a node. */
const AUTOMATIC = [
  {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
    applies: (csr: Request, request: CertificateRequest) => csr.spec.username === request.subject.commonName,
  },
  { subresource: 'nodeclient', message: 'Auto approving kubelet client certificate after SubjectAccessReview.', applies: () => true },
];

/** Approves the requests of kubelets, signs what was approved for Kubernetes' own signers, and removes what is old. */
export function certificatesController(environment: Environment, authority: () => Authority): Running {
  const { clock, log, metrics, informers } = environment;
  const requests = informers.get(CertificateSigningRequest);
  const controller = new Controller({
    name: 'certificates',
    clock,
    log,
    metrics,
    async reconcile(name, { signal }): Promise<ReconcileResult | void> {
      const csr = requests.get(name);
      if (!csr) return undefined;
      const left = cleanUpAfter(csr, clock.now());
      if (left <= 0) return remove(environment, csr, signal);
      await approveOrSign(environment, csr, authority, signal);
      // A timer, because time passing changes nothing that a watch could see.
      return { afterMs: left };
    },
  });
  return controller.watch(requests, ({ type, object }) => (type === 'deleted' ? [] : [object.metadata.name!])).start();
}

async function approveOrSign(environment: Environment, csr: Request, authority: () => Authority, signal: AbortSignal): Promise<void> {
  const { conditions, certificate } = csr.status ?? {};
  if (certificate || findCondition(conditions, 'Denied') || findCondition(conditions, 'Failed')) return;
  if (!OUR_SIGNERS.includes(csr.spec.signerName)) return;
  const { parseCertificateRequest } = await import('../../../lib/pki/certificate-request.ts');
  const request = parseCertificateRequest(Buffer.from(csr.spec.request, 'base64').toString('utf8'));
  if (findCondition(conditions, 'Approved')) await sign(environment, csr, request, authority(), signal);
  else await approveKubelet(environment, csr, request, signal);
}

async function approveKubelet({ client }: Environment, csr: Request, request: CertificateRequest, signal: AbortSignal): Promise<void> {
  const { signerName, usages = [], username, uid, groups, extra } = csr.spec;
  if (signerName !== KUBELET_CLIENT || kubeletClientObjection(request, usages) !== undefined) return;
  for (const { subresource, message, applies } of AUTOMATIC) {
    if (!applies(csr, request)) continue;
    const resourceAttributes = {
      group: 'certificates.k8s.io',
      resource: 'certificatesigningrequests',
      verb: 'create',
      subresource,
      version: '*',
    };
    const spec = { user: username, uid, groups, extra, resourceAttributes };
    const review = await client.resource(SubjectAccessReview).create({ metadata: {}, spec }, { signal });
    if (review.status?.allowed !== true) continue;
    const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
    await client
      .resource(CertificateSigningRequest)
      .subresource('approval')
      .update(csr.metadata.name!, withCondition(csr, approved), { signal });
    return;
  }
}

async function sign(
  { client, clock }: Environment,
  csr: Request,
  request: CertificateRequest,
  authority: Authority,
  signal: AbortSignal,
): Promise<void> {
  const { signerName, usages = [], expirationSeconds } = csr.spec;
  const status = client.resource(CertificateSigningRequest).status;
  const name = csr.metadata.name!;
  const fail = (message: string): Promise<KubeObject> => {
    const lastUpdateTime = formatTime(new Date(clock.now()));
    const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message, lastUpdateTime };
    return status.update(name, withCondition(csr, failed), { signal });
  };
  const objection = objectionOf(signerName, request, usages);
  if (objection !== undefined) {
    await fail(objection);
    return;
  }
  const { signRequest } = await import('./sign.ts');
  let certificate: string;
  try {
    certificate = signRequest(request, usages, expirationSeconds, authority, clock.now());
  } catch (error) {
    // Neither the request nor the authority will be better next time.
    await fail(errorText(error));
    return;
  }
  const encoded = Buffer.from(certificate).toString('base64');
  await status.update(name, { ...csr, status: { ...csr.status, certificate: encoded } }, { signal });
}

function withCondition(csr: Request, condition: Json): Request {
  return { ...csr, status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] } };
}

async function remove({ client }: Environment, csr: Request, signal: AbortSignal): Promise<void> {
  const { name, uid } = csr.metadata;
  try {
    await client.resource(CertificateSigningRequest).delete(name!, { preconditions: { uid }, signal });
  } catch (error) {
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}

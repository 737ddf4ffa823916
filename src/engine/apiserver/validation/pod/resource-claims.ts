import { isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { path, type Path } from '../path.ts';
import { MIRROR_POD } from './annotations.ts';

/** @returns the names containers may refer to. */
export function checkPodClaims(out: Findings, claims: Json[], metadata: Json, at: Path): Set<string> {
  const usable = new Set<string>();
  for (const claim of claims) if (claim.name) usable.add(claim.name);
  const seen = new Set<string>();
  claims.forEach((claim, i) => {
    if (metadata?.annotations?.[MIRROR_POD] !== undefined) {
      return out.forbidden(path(''), 'static pods do not support resource claims');
    }
    checkPodClaim(out, claim, seen, at.index(i));
  });
  return usable;
}

function checkPodClaim(out: Findings, claim: Json, seen: Set<string>, at: Path): void {
  const { name = '', resourceClaimName, resourceClaimTemplateName } = claim;
  if (name === '') out.required(at.child('name'));
  else if (seen.has(name)) out.duplicate(at.child('name'), name);
  else {
    checkDnsLabel(out, name, at.child('name'));
    seen.add(name);
  }
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
    const detail = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
    out.invalid(at, internalForm('PodResourceClaim', claim), detail);
  }
  if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
    out.invalid(at, internalForm('PodResourceClaim', claim), 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
  }
  for (const field of ['resourceClaimName', 'resourceClaimTemplateName']) {
    if (claim[field] !== undefined) out.invalidEach(at.child(field), claim[field], isDns1123Subdomain(claim[field]));
  }
}

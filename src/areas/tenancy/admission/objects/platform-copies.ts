import { PROPAGATE_TO_PLATFORM } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { forbiddenError } from '../../../../kube/status.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import { isPlatform } from '../platform-users.ts';

/** What is copied into namespaces of the platform is the platform's to write, all of it: a tenant would speak there with its content. */
export const platformCopiesHandler: AdmissionHandler = ({ resource, name = '', userInfo }) => {
  if (isPlatform(userInfo)) return { allowed: true };
  throw forbiddenError(
    resource,
    name,
    `objects with the annotation "${PROPAGATE_TO_PLATFORM}" are written by the platform only; leave it out`,
  );
};

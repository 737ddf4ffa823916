import type { AdmissionPlugin, AdmissionRequest } from '../../admission/admission.ts';
import { checkBindingEscalation, checkRoleEscalation } from './escalation.ts';
import { RBAC_GROUP } from './policy-index.ts';
import type { RbacAuthorizer } from './rbac-authorizer.ts';

/**
 * Escalation prevention on its way into the store. It looks at the object after everyone changed it and before it is validated, as
 * Kubernetes does: put it last in the list of plugins.
 */
export function escalationPrevention(authorizer: RbacAuthorizer): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    handles: ({ resource, operation, subresource }) =>
      resource.group === RBAC_GROUP && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    mutate(request) {
      const write = writeOf(request);
      if (request.kind.kind.endsWith('Binding')) checkBindingEscalation(authorizer, write);
      else checkRoleEscalation(authorizer, write);
    },
  };
}

function writeOf(request: AdmissionRequest) {
  const { user, operation, name, namespace, object, oldObject } = request;
  return { user, namespace, requestName: operation === 'CREATE' ? '' : name, object: object!, old: oldObject };
}

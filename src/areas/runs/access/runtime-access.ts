import { API_VERSION, GROUP } from '../../../api/kruntimes.io/v1alpha1/group.ts';
import type { KubeObject } from '../../../kube/object.ts';

const NAME = 'runtime-access.kruntimes.io';

const MAY_USE = `authorizer.group('${GROUP}').resource('runtimes').namespace(request.namespace).name(object.spec.runtime).check('use').allowed()`;

/** The cheap ones first: this is asked of every Run that is created. */
const EXCUSES = [
  '!has(object.spec)',
  'params.metadata.name != object.spec.runtime',
  '!has(params.spec)',
  '!has(params.spec.access)',
  "params.spec.access != 'Restricted'",
  // The Runtime of a Run never changes, but a Run may be created without a spec and get one later.
  '(oldObject != null && has(oldObject.spec))',
  MAY_USE,
];

/** In one line: API servers drop a message of several. */
const REFUSAL = [
  `'Cannot use Runtime "' + object.spec.runtime + '": it is restricted, and user "' + request.userInfo.username`,
  `'" lacks the verb "use" on runtimes.${GROUP} "' + object.spec.runtime + '" in namespace "' + request.namespace`,
  `'"; who may give it does so with: krt runtime allow ' + object.spec.runtime + ' -n ' + request.namespace`,
  `' --for-user ' + request.userInfo.username`,
].join(' + ');

/**
 * Who may use which Runtime, as a policy that every API server evaluates itself: no webhook has to be up for a Run to be created. It is
 * asked of each Runtime of the Run's namespace; only the one that the Run names, and only a restricted one, has something to say.
 */
export function runtimeAccessPolicy(): KubeObject[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: NAME },
      spec: {
        failurePolicy: 'Fail',
        paramKind: { apiVersion: API_VERSION, kind: 'Runtime' },
        matchConstraints: {
          resourceRules: [{ apiGroups: [GROUP], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['runs'] }],
        },
        validations: [
          {
            expression: EXCUSES.join(' || '),
            messageExpression: REFUSAL,
            message: `the Runtime is restricted and you lack the verb "use" on it`,
            reason: 'Forbidden',
          },
        ],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: NAME },
      spec: {
        policyName: NAME,
        validationActions: ['Deny'],
        // Without a namespace: that of the Run.
        paramRef: { selector: {}, parameterNotFoundAction: 'Allow' },
      },
    },
  ];
}

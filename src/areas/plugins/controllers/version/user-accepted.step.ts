import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { VersionReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-reasons.ts';
import { isConditionTrue } from '../../../../kube/conditions.ts';
import { done, stalled } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { ImageRegistry } from '../../verification/image-evidence.ts';
import { userProblem } from '../../verification/user-rules.ts';
import { askingRegistry } from './registry-outcome.ts';
import { VersionCondition } from './version-conditions.ts';
import type { VersionPorts } from './version.steps.ts';

/** The image does not run as root, on any platform. A digest never changes, so what was found once holds. */
export function userAccepted(usersOf: ImageRegistry['users'], credentials: VersionPorts['credentials']): Step<PluginVersion> {
  return {
    name: VersionCondition.UserAccepted,
    run(version, { signal }) {
      if (isConditionTrue(version.status?.conditions, VersionCondition.UserAccepted)) return done('NotRoot');
      const image = version.status!.image!;
      return askingRegistry(image, async () => {
        const users = await usersOf(image, await credentials(version), signal);
        const [problem] = users.flatMap(({ user, platform }) => userProblem(user, platform) ?? []);
        return problem === undefined
          ? done('NotRoot')
          : stalled(VersionReason.RunsAsRoot, `${problem}, and publish that as another version`);
      });
    },
  };
}

import { newUid } from '../../../lib/ids.ts';
import type { AdmissionPlugin } from './admission.ts';
import type { Catalog } from '../registry/catalog.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { builtInPlugins, type BuiltInPluginOptions } from './built-in-plugins.ts';
import { catalogDecode, catalogEquivalents, catalogResourceOfKind } from './catalog-ports.ts';
import { createAdmission, type Admission, type AdmissionOptions } from './chain.ts';
import { celConditions } from './match-conditions.ts';
import { compileCelExpression } from './policy/cel-expression.ts';
import type { CompileExpression } from './policy/expression.ts';
import { validatingPolicies } from './policy/validating-policies.ts';
import type { ReviewHandler, ServiceReference } from './webhook/call.ts';
import type { WebhookObservation } from './webhook/consult.ts';
import { mutatingWebhooks } from './webhook/mutating.ts';
import { serviceTargets } from './webhook/service-targets.ts';
import { validatingWebhooks } from './webhook/validating.ts';

export interface ServerAdmissionOptions extends BuiltInPluginOptions {
  catalog: Catalog;
  /** For matchConditions and policies; CEL unless told otherwise. */
  compile?: CompileExpression;
  /** Webhooks that are functions of this process, by the service they are registered with. */
  inProcess?: (service: ServiceReference) => ReviewHandler | undefined;
  /** How webhooks are reached; by their addresses unless told otherwise. */
  outbound?: Outbound;
  /** Plugins of other parts of the server. */
  extra?: readonly AdmissionPlugin[];
  observe?: AdmissionOptions['observe'];
  observeWebhook?: (observation: WebhookObservation) => void;
}

/** Everything kube-apiserver admits by: built-in plugins, webhooks and policies. */
export function serverAdmission(options: ServerAdmissionOptions): Admission {
  const { catalog, writer, authorizer, compile = compileCelExpression } = options;
  const equivalents = catalogEquivalents(catalog);
  const webhooks = {
    reader: writer,
    resolve: serviceTargets(writer, options.inProcess),
    outbound: options.outbound,
    compileConditions: celConditions(compile, authorizer),
    equivalents,
    decode: catalogDecode(catalog),
    newUid,
    observe: options.observeWebhook,
  };
  const dynamic = [
    mutatingWebhooks(webhooks),
    validatingPolicies({ reader: writer, compile, authorizer, equivalents, resourceOfKind: catalogResourceOfKind(catalog) }),
    validatingWebhooks(webhooks),
  ];
  catalog.onChange(() => {
    for (const plugin of dynamic) plugin.resourcesChanged();
  });
  return createAdmission({ plugins: [...builtInPlugins(options), ...dynamic, ...(options.extra ?? [])], observe: options.observe });
}

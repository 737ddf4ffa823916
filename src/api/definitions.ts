import type { KindDefinition } from './kind-definition.ts';
import { runDefinition } from './kruntimes.io/v1alpha1/run.ts';
import { runtimeDefinition } from './kruntimes.io/v1alpha1/runtime.ts';

/** Every Kind that we define. The build makes a CRD of each. */
export const definitions: readonly KindDefinition[] = [runDefinition, runtimeDefinition];

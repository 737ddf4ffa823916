import type { CaseSet } from '../case.ts';
import { configuration } from './configuration.ts';
import { pods } from './pods.ts';
import { workloads } from './workloads.ts';

/** By the name of the file they are recorded into. */
export const caseSets: Record<string, CaseSet> = { configuration, pods, workloads };

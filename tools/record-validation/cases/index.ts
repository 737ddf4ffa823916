import type { CaseSet } from '../case.ts';
import { pods } from './pods.ts';

/** By the name of the file they are recorded into. */
export const caseSets: Record<string, CaseSet> = { pods };

export { builtinResources } from './resources.ts';
export { readRecorded, readRecordedJson } from './recorded.ts';

import { proportional, type Score } from '../score.ts';

/** The sum of the weights of the preferences that the node meets. */
export const preferredNodes: Score = {
  name: 'NodeAffinity',
  weight: 2,
  rate({ preferredNodes: preferences }, nodes) {
    if (preferences.length === 0) return undefined;
    return proportional(nodes.map((node) => preferences.reduce((sum, { weight, matches }) => (matches(node) ? sum + weight : sum), 0)));
  },
};

export { formatAge as humanDuration } from '../../../../kube/age.ts';

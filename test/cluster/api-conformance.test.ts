import { apiConformance } from '../conformance/api/suite.ts';
import { startKubernetesTarget } from './kubernetes-target.ts';

apiConformance('a real kube-apiserver', startKubernetesTarget);
